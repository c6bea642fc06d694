// v += __shfl_down_sync(0xffffffff, v, 16);
__device__ float half_sum(float v, unsigned long long mask) {
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  return v + __shfl_down(v, 16, 32);
#else
  return v + __shfl_down_sync(0xffffffff, v, 16);
#endif
}
__device__ float wide(float v, unsigned long long mask) {
  return __shfl_sync(mask, v, 0);
}
