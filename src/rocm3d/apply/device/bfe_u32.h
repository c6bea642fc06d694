// The field of `length` bits from `position` on, as PTX takes it: no more than the low 8 bits of either count.
__device__ inline unsigned rocm3d_bfe_u32(unsigned value, unsigned position, unsigned length) {
  position &= 255u, length &= 255u;
  unsigned field = position > 31u ? 0u : value >> position;
  return length > 31u ? field : field & ((1u << length) - 1u);
}
