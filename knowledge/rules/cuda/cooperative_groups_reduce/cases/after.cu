#include <cooperative_groups.h>
#if !defined(USE_ROCM) && !defined(__HIP_PLATFORM_AMD__)
#include <cooperative_groups/reduce.h>
#endif
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
#if defined(__HIP__) && !defined(ROCM3D_HAS_REDUCE)
#define ROCM3D_HAS_REDUCE
// Every lane of a tile gets the result of all its lanes.
template <typename Tile, typename T, typename Operation>
__device__ inline T rocm3d_reduce(const Tile& tile, T value, Operation operation) {
  for (unsigned step = tile.size() / 2; step > 0; step /= 2) value = operation(value, tile.shfl_xor(value, step));
  return value;
}
#endif
#if defined(__HIP__) && !defined(ROCM3D_HAS_PLUS)
#define ROCM3D_HAS_PLUS
struct rocm3d_plus {
  template <typename T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
#endif
#endif
namespace cg = cooperative_groups;

__global__ void totals(const float* in, float* out) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  float sum = rocm3d_reduce(tile, in[threadIdx.x], rocm3d_plus());
#else
  float sum = cg::reduce(tile, in[threadIdx.x], cg::plus<float>());
#endif
  if (tile.thread_rank() == 0) out[threadIdx.x / 32] = sum;
}
