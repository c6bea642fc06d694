#include <cuda_runtime.h>
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
#include <hip/hip_version.h>
#if HIP_VERSION < 70100000
#define __syncwarp(...)                                    \
  do {                                                     \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront"); \
    __builtin_amdgcn_wave_barrier();                       \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront"); \
  } while (0)
#endif
#endif

__global__ void rotate(float* data) {
  __shared__ float tile[256];
  int t = threadIdx.x;
  tile[t] = data[t];
  __syncwarp();
  data[t] = tile[t / 32 * 32 + (t + 1) % 32];
}
