#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
#if defined(__HIP__) && !defined(ROCM3D_HAS_BFE_U32)
#define ROCM3D_HAS_BFE_U32
// The field of `length` bits from `position` on, as PTX takes it: no more than the low 8 bits of either count.
__device__ inline unsigned rocm3d_bfe_u32(unsigned value, unsigned position, unsigned length) {
  position &= 255u, length &= 255u;
  unsigned field = position > 31u ? 0u : value >> position;
  return length > 31u ? field : field & ((1u << length) - 1u);
}
#endif
#endif
__device__ unsigned lane_id() {
  unsigned lane;
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  lane = __lane_id() & 31u;
#else
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
#endif
  return lane;
}

__device__ unsigned byte_of(unsigned word, unsigned place) {
  unsigned byte;
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  byte = rocm3d_bfe_u32(word, place, 8);
#else
  asm("bfe.u32 %0, %1, %2, 8;" : "=r"(byte) : "r"(word), "r"(place));
#endif
  return byte;
}
