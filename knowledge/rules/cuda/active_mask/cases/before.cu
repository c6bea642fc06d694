__device__ int reserve(int* counter) {
  int lane = threadIdx.x % warpSize;
  unsigned active = __activemask();
  int leader = __ffs(active) - 1;
  int first = 0;
  if (lane == leader) first = atomicAdd(counter, __popc(active));
  first = __shfl_sync(active, first, leader);
  return first + __popc(active & ((1u << lane) - 1u));
}
