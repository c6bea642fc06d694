#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__device__ int total(int value) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  return cg::reduce(tile, value, cg::plus<int>());
}
