#if defined(__CUDACC__)
#define BOTH __host__ __device__
#else
#define BOTH
#endif

BOTH inline int half_of(int x) { return x / 2; }
