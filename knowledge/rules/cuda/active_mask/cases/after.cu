__device__ int reserve(int* counter) {
  int lane = threadIdx.x % warpSize;
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  unsigned long long active = __ballot(1);
  int leader = __ffsll(active) - 1;
#else
  unsigned active = __activemask();
  int leader = __ffs(active) - 1;
#endif
  int first = 0;
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  if (lane == leader) first = atomicAdd(counter, __popcll(active));
  first = __shfl(first, leader);
  return first + __popcll(active & ((1ull << lane) - 1ull));
#else
  if (lane == leader) first = atomicAdd(counter, __popc(active));
  first = __shfl_sync(active, first, leader);
  return first + __popc(active & ((1u << lane) - 1u));
#endif
}
