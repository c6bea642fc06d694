#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// cg::labeled_partition(warp, label) would save atomics here
__global__ void count_labels(const int* labels, int* counts) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  if (warp.thread_rank() < warp.size()) atomicAdd(&counts[labels[threadIdx.x]], 1);
}
