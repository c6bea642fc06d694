__global__ void blur(float* image);

void prepare(int bytes) {
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  cudaFuncSetAttribute((const void*)blur, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
#else
  cudaFuncSetAttribute(blur, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
#endif
}
