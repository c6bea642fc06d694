#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void totals(const float* in, float* out) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  float sum = cg::reduce(tile, in[threadIdx.x], cg::plus<float>());
  if (tile.thread_rank() == 0) out[threadIdx.x / 32] = sum;
}
