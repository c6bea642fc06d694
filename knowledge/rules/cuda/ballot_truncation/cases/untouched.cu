// unsigned votes = __ballot_sync(0xffffffffu, p);
__device__ int votes_of(bool p, unsigned word) {
#if defined(USE_ROCM)
  unsigned long long votes = __ballot(p);
  return __popcll(votes);
#else
  return __popc(__ballot_sync(0xffffffffu, p));
#endif
}
__device__ int bits(unsigned word) { return __popc(word); }
