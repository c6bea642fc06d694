#include <cooperative_groups.h>
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
#if defined(__HIP__) && !defined(ROCM3D_HAS_WAVE_PEERS)
#define ROCM3D_HAS_WAVE_PEERS
// Active lanes of the wave whose key has the same bits: one round for each distinct key, all lanes together.
template <typename T>
__device__ inline unsigned long long rocm3d_wave_peers(T key) {
  static_assert(sizeof(T) <= 8, "a key has 64 bits at most");
  unsigned long long bits = 0, left = __ballot(1), peers = 0;
  __builtin_memcpy(&bits, &key, sizeof(T));
  while (left != 0) {
    unsigned long long same = __ballot(__shfl(bits, __ffsll(left) - 1) == bits);
    if (same >> __lane_id() & 1) peers = same;
    left &= ~same;
  }
  return peers;
}
#endif
#if defined(__HIP__) && !defined(ROCM3D_HAS_LABELED_PARTITION)
#define ROCM3D_HAS_LABELED_PARTITION
// The active lanes of a tile that have the same label.
struct rocm3d_labeled_group {
  unsigned long long lanes;
  __device__ unsigned size() const { return __popcll(lanes); }
  __device__ unsigned num_threads() const { return __popcll(lanes); }
  __device__ unsigned thread_rank() const { return __popcll(lanes & ((1ull << __lane_id()) - 1)); }
};
template <typename Tile, typename T>
__device__ inline rocm3d_labeled_group rocm3d_labeled_partition(const Tile& tile, T label) {
  unsigned size = tile.size(), first = __lane_id() / size * size;
  return {rocm3d_wave_peers(label) & (~0ull >> (64 - size) << first)};
}
#endif
#define ROCM3D_LABELED_PARTITION rocm3d_labeled_partition
#else
#define ROCM3D_LABELED_PARTITION cg::labeled_partition
#endif
namespace cg = cooperative_groups;

__global__ void count_labels(const int* labels, int* counts) {
  int label = labels[blockIdx.x * blockDim.x + threadIdx.x];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto group = ROCM3D_LABELED_PARTITION(warp, label);
  if (group.thread_rank() == 0) atomicAdd(&counts[label], int(group.size()));
}
