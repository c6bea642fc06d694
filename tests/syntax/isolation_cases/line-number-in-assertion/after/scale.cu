#include "config.h"
__global__ void scale(float* x) {
#if defined(USE_ROCM)
  x[threadIdx.x] *= 3.0f;
#else
  x[threadIdx.x] *= 2.0f;
#endif
}
constexpr int twice(int n) { return 2 * n; }
static_assert(twice(__LINE__) == 12, "");
