struct Larger {
  __device__ float operator()(float a, float b) const {
    return a > b ? a : b;
  }
};
