#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
// The active lanes of the wave that hold the same key: one round for each distinct key.
__device__ unsigned long long wave_peers(int key) {
  for (;;) {
    int first = __builtin_amdgcn_readfirstlane(key);
    unsigned long long same = __ballot(first == key);
    if (first == key) return same;
  }
}
#endif

__global__ void count_labels(const int* labels, int* counts) {
  int label = labels[blockIdx.x * blockDim.x + threadIdx.x];
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  unsigned long long peers = wave_peers(label);
  if (int(__lane_id()) == __ffsll(peers) - 1) atomicAdd(&counts[label], __popcll(peers));
#else
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto group = cg::labeled_partition(warp, label);
  if (group.thread_rank() == 0) atomicAdd(&counts[label], int(group.size()));
#endif
}
