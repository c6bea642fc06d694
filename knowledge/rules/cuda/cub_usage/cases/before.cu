#include <cub/cub.cuh>

using WarpSum = cub::WarpReduce<float>;

__device__ float warp_sum(float v, WarpSum::TempStorage& storage) {
  return WarpSum(storage).Sum(v);
}
