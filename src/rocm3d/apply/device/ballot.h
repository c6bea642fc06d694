// Votes of this lane's group of 32; in a wave of 64 each half is a group of its own.
__device__ inline unsigned rocm3d_ballot(unsigned mask, int predicate) {
  return (unsigned)(__ballot(predicate) >> (__lane_id() & 32u)) & mask;
}
