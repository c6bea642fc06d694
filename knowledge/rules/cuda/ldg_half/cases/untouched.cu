#include <ATen/ATen.h>
#if defined(USE_ROCM)
__device__ inline at::Half __ldg(const at::Half* ptr) { return *ptr; }
#endif

__global__ void copy(const float* src, float* out) {
  out[threadIdx.x] = __ldg(src + threadIdx.x);
}
