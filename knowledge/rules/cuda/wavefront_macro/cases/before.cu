#if defined(USE_ROCM)
constexpr int kWave = __AMDGCN_WAVEFRONT_SIZE;
#else
constexpr int kWave = 32;
#endif

__device__ int lane_of(int thread) { return thread % kWave; }
