#include <ATen/ATen.h>
#if defined(USE_ROCM)
#if defined(__HIP__) && !defined(ROCM3D_HAS_LDG_HALF)
#define ROCM3D_HAS_LDG_HALF
__device__ inline at::Half __ldg(const at::Half* ptr) { return *ptr; }
__device__ inline at::BFloat16 __ldg(const at::BFloat16* ptr) { return *ptr; }
#endif
#endif

template <typename scalar_t>
__global__ void gather(const scalar_t* src, const int* index, scalar_t* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __ldg(src + index[i]);
}
