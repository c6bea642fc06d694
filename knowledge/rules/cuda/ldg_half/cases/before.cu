#include <ATen/ATen.h>

template <typename scalar_t>
__global__ void gather(const scalar_t* src, const int* index, scalar_t* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __ldg(src + index[i]);
}
