__global__ void blur(float* image);

void prepare(int bytes) {
  cudaFuncSetAttribute(blur, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
