__device__ float checked(float depth, bool prefiltered) {
  if (depth <= 0.2f && prefiltered) {
    __trap();
  }
  return depth;
}
