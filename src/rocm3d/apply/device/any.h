// Whether any active lane of this lane's group of 32 says so.
__device__ inline int rocm3d_any(unsigned mask, int predicate) {
  return ((unsigned)(__ballot(predicate) >> (__lane_id() & 32u)) & mask) != 0u;
}
