__device__ float checked(float depth, bool prefiltered) {
  if (depth <= 0.2f && prefiltered) {
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
    __builtin_trap();
#else
    __trap();
#endif
  }
  return depth;
}
