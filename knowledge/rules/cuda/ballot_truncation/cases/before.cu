__global__ void count_positive(const int* in, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool positive = i < n && in[i] > 0;
  unsigned votes = __ballot_sync(0xffffffffu, positive);
  int count = __popc(votes);
  if (threadIdx.x % warpSize == 0) atomicAdd(total, count);
}
