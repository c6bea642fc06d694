#define USE_ROCM 0
#include "scale.cu"
