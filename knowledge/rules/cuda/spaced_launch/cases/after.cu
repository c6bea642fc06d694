__global__ void scale(float* x, float k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= k;
}

void run(float* x, int n) {
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  scale <<<(n + 255) / 256, 256 >>> (x, 2.0f, n);
#else
  scale << <(n + 255) / 256, 256 >> > (x, 2.0f, n);
#endif
}
