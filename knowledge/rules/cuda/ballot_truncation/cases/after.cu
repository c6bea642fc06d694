__global__ void count_positive(const int* in, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool positive = i < n && in[i] > 0;
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  unsigned long long votes = __ballot(positive);
  int count = __popcll(votes);
#else
  unsigned votes = __ballot_sync(0xffffffffu, positive);
  int count = __popc(votes);
#endif
  if (threadIdx.x % warpSize == 0) atomicAdd(total, count);
}
