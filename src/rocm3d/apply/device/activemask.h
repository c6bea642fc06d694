// Active lanes of this lane's group of 32; in a wave of 64 each half is a group of its own.
__device__ inline unsigned rocm3d_activemask() {
  return (unsigned)(__ballot(1) >> (__lane_id() & 32u));
}
