// double eps = 1e-6d;
double eps = 1e-6;
float tiny = 1e-6f;
int mask = 0x1d;
const char* note = "0.0d";
