// #if CUDA_VERSION >= 11000
#if defined(USE_ROCM) || CUDA_VERSION >= 11000
#include <cuda_bf16.h>
#endif
const char* note = "CUDA_VERSION";
