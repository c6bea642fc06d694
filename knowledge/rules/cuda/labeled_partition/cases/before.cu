#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void count_labels(const int* labels, int* counts) {
  int label = labels[blockIdx.x * blockDim.x + threadIdx.x];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto group = cg::labeled_partition(warp, label);
  if (group.thread_rank() == 0) atomicAdd(&counts[label], int(group.size()));
}
