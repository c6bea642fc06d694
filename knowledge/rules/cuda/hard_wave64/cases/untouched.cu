#if defined(USE_ROCM) && defined(__GFX9__)
#define WARP_SIZE 64
#else
#define WARP_SIZE 32
#endif
#define CACHE_LINE 64

__device__ int line_of(int byte) { return byte / CACHE_LINE; }
