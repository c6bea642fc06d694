__device__ unsigned swap_in(unsigned* word, unsigned was, __half value);

#if (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700) || defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
__device__ void add(__half* sum, __half value) {
  unsigned* word = reinterpret_cast<unsigned*>(sum);
  for (unsigned was = *word; swap_in(word, was, value) != was; was = *word) {
  }
}
#else
__device__ void add(__half* sum, __half value) { atomicAdd(sum, value); }
#endif
