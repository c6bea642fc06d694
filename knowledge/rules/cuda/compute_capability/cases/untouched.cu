struct Version {
  int major;
};

// return prop.major >= 8;
bool is_new(Version version) { return version.major >= 8; }
