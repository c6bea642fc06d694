#if defined(USE_ROCM)
#if defined(__GFX9__)
constexpr int kWave = 64;
#else
constexpr int kWave = 32;
#endif
#else
constexpr int kWave = 32;
#endif

__device__ int lane_of(int thread) { return thread % kWave; }
