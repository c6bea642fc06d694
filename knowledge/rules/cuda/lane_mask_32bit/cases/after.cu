__device__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) {
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
    v += __shfl_down(v, offset, 32);
#else
    v += __shfl_down_sync(0xffffffff, v, offset);
#endif
  }
  return v;
}
