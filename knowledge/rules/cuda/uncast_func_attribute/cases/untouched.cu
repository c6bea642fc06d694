__global__ void blur(float* image);

// cudaFuncSetAttribute(blur, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
void prepare(const void* kernel, int bytes) {
  cudaFuncSetAttribute((const void*)blur, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  cudaFuncSetAttribute(reinterpret_cast<const void*>(blur), cudaFuncAttributePreferredSharedMemoryCarveout, 50);
}
