#include <fstream>
std::ifstream source("kernels/scale.cu");
