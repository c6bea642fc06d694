// Whether no active lane of this lane's group of 32 denies it.
__device__ inline int rocm3d_all(unsigned mask, int predicate) {
  return ((unsigned)(__ballot(!predicate) >> (__lane_id() & 32u)) & mask) == 0u;
}
