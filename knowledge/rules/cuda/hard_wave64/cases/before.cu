#if defined(USE_ROCM)
#define WARP_SIZE 64
#else
#define WARP_SIZE 32
#endif

__device__ int warp_of(int thread) { return thread / WARP_SIZE; }
