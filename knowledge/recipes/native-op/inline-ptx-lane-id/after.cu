__device__ unsigned lane_id() {
  unsigned lane;
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  lane = __lane_id();
#else
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
#endif
  return lane;
}
