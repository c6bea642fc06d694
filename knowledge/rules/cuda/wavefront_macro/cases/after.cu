#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
#if !defined(__AMDGCN_WAVEFRONT_SIZE)
#if defined(__GFX9__)
#define __AMDGCN_WAVEFRONT_SIZE 64
#else
#define __AMDGCN_WAVEFRONT_SIZE 32
#endif
#endif
#endif
#if defined(USE_ROCM)
constexpr int kWave = __AMDGCN_WAVEFRONT_SIZE;
#else
constexpr int kWave = 32;
#endif

__device__ int lane_of(int thread) { return thread % kWave; }
