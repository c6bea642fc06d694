bool has_async_copy(int device) {
  cudaDeviceProp prop;
  cudaGetDeviceProperties(&prop, device);
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  return false;
#else
  return prop.major >= 8;
#endif
}
