struct rocm3d_bit_or {
  template <typename T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a | b;
  }
};
