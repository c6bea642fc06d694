#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
#define ROCM3D_HOST_DEVICE __host__ __device__
#else
#define ROCM3D_HOST_DEVICE __device__
#endif
struct Larger {
  ROCM3D_HOST_DEVICE float operator()(float a, float b) const {
    return a > b ? a : b;
  }
};
