#if (defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)) && defined(__GFX9__)
#define WARP_SIZE 64
#else
#define WARP_SIZE 32
#endif

__global__ void count_positive(const int* in, int* total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  int votes = __popcll(__ballot(in[i] > 0));
#else
  int votes = __popc(__ballot_sync(0xffffffffu, in[i] > 0));
#endif
  if (threadIdx.x % WARP_SIZE == 0) atomicAdd(total, votes);
}
