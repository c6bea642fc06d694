#if defined(__CUDACC__)
__device__ inline float inverse_root(float x) { return rsqrtf(x); }
#endif

inline int half_of(int x) { return x / 2; }
