#include <cuda_runtime.h>
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
#if defined(__HIP__) && !defined(ROCM3D_HAS_WAVE_PEERS)
#define ROCM3D_HAS_WAVE_PEERS
// Active lanes of the wave whose key has the same bits: one round for each distinct key, all lanes together.
template <typename T>
__device__ inline unsigned long long rocm3d_wave_peers(T key) {
  static_assert(sizeof(T) <= 8, "a key has 64 bits at most");
  unsigned long long bits = 0, left = __ballot(1), peers = 0;
  __builtin_memcpy(&bits, &key, sizeof(T));
  while (left != 0) {
    unsigned long long same = __ballot(__shfl(bits, __ffsll(left) - 1) == bits);
    if (same >> __lane_id() & 1) peers = same;
    left &= ~same;
  }
  return peers;
}
#endif
#endif

__global__ void histogram(const int* keys, int* bins) {
  int lane = threadIdx.x % warpSize;
  int key = keys[blockIdx.x * blockDim.x + threadIdx.x];
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  unsigned long long peers = rocm3d_wave_peers(key);
  if (lane == __ffsll(peers) - 1) atomicAdd(&bins[key], __popcll(peers));
#else
  unsigned peers = __match_any_sync(__activemask(), key);
  if (lane == __ffs(peers) - 1) atomicAdd(&bins[key], __popc(peers));
#endif
}
