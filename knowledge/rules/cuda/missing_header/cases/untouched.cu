#include <cuda_runtime.h>
// #include <device_launch_parameters.h>
#ifndef USE_ROCM
#include <device_launch_parameters.h>
#endif
const char* note = "#include <device_functions.h>";
