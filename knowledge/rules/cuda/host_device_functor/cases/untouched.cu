struct Smaller {
  __host__ __device__ float operator()(float a, float b) const {
    return a < b ? a : b;
  }
};

// __device__ float operator()(float a, float b) const;
__device__ float lane_sum(float v) { return v; }
