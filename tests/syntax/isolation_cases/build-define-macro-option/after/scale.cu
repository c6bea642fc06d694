#include "config.h"
__global__ void scale(float* x) {
#if defined(USE_ROCM)
  x[threadIdx.x] *= 3.0f;
#else
  x[threadIdx.x] *= 2.0f;
#endif
}
