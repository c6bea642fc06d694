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
