const char* text = R"(
a
)";
