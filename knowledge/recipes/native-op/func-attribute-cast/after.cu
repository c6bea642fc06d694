__global__ void blur(float* image);

void prepare(int bytes) {
  cudaFuncSetAttribute((const void*)blur, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
