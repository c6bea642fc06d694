__device__ unsigned lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

__device__ unsigned byte_of(unsigned word, unsigned place) {
  unsigned byte;
  asm("bfe.u32 %0, %1, %2, 8;" : "=r"(byte) : "r"(word), "r"(place));
  return byte;
}
