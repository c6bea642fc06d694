// atomicAdd(half, value) is for newer cards
#if __CUDA_ARCH__ < 700
__device__ void add(float* sum, float value) { *sum += value; }
#else
__device__ void add(float* sum, float value) { atomicAdd(sum, value); }
#endif
