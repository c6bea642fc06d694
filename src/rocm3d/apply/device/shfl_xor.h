// Within the group of 32 lanes; HIP's shuffle without a mask reads any active lane.
template <typename T>
__device__ inline T rocm3d_shfl_xor(unsigned, T value, int lanes, int width = 32) {
  return __shfl_xor(value, lanes, width);
}
