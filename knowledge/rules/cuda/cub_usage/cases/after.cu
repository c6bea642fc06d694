#include <cub/cub.cuh>

#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
using WarpSum = cub::WarpReduce<float, 32>;
#else
using WarpSum = cub::WarpReduce<float>;
#endif

__device__ float warp_sum(float v, WarpSum::TempStorage& storage) {
  return WarpSum(storage).Sum(v);
}
