#include <cuda_runtime.h>
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
// The active lanes of the wave that hold the same key: one round for each distinct key.
__device__ unsigned long long wave_peers(int key) {
  for (;;) {
    int first = __builtin_amdgcn_readfirstlane(key);
    unsigned long long same = __ballot(first == key);
    if (first == key) return same;
  }
}
#endif

__global__ void histogram(const int* keys, int* bins) {
  int lane = threadIdx.x % warpSize;
  int key = keys[blockIdx.x * blockDim.x + threadIdx.x];
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  unsigned long long peers = wave_peers(key);
  if (lane == __ffsll(peers) - 1) atomicAdd(&bins[key], __popcll(peers));
#else
  unsigned peers = __match_any_sync(__activemask(), key);
  if (lane == __ffs(peers) - 1) atomicAdd(&bins[key], __popc(peers));
#endif
}
