// Four bytes picked out of eight; the highest bit of a selector repeats the sign of its byte.
__device__ inline unsigned rocm3d_prmt(unsigned low, unsigned high, unsigned selectors) {
  unsigned long long bytes = (unsigned long long)high << 32 | low;
  unsigned result = 0u;
  for (int i = 0; i < 4; ++i) {
    unsigned selector = selectors >> (4 * i) & 15u;
    unsigned byte = (unsigned)(bytes >> (8u * (selector & 7u))) & 255u;
    if (selector & 8u) byte = byte & 128u ? 255u : 0u;
    result |= byte << (8 * i);
  }
  return result;
}
