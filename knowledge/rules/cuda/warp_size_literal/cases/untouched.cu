#define TILE 32
#define BITS_PER_WORD 32

__global__ void fill(unsigned* words, int n) {
  int i = blockIdx.x * TILE + threadIdx.x;
  if (i < n / BITS_PER_WORD) words[i] = 0u;
}
