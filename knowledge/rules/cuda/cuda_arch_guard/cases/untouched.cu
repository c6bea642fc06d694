// #if defined(__CUDA_ARCH__)
__host__ __device__ float root(float x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return __fsqrt_rn(x);
#else
  return sqrtf(x);
#endif
}
#if defined(CUDA_ARCHITECTURES)
#endif
