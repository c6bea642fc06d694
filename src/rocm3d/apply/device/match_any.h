// Lanes of this lane's group of 32 whose key has the same bits.
template <typename T>
__device__ inline unsigned rocm3d_match_any(unsigned mask, T key) {
  return (unsigned)(rocm3d_wave_peers(key) >> (__lane_id() & 32u)) & mask;
}
