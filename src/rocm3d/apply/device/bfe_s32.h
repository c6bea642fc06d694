// The same with its sign: bits above the value are its sign, and an empty field is 0.
__device__ inline int rocm3d_bfe_s32(int value, unsigned position, unsigned length) {
  position &= 255u, length &= 255u;
  int field = value >> (position > 31u ? 31u : position);
  if (length == 0u) return 0;
  return length > 31u ? field : (int)((unsigned)field << (32u - length)) >> (32u - length);
}
