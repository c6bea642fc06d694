#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>

void sort_keys(int* first, int* last, cudaStream_t stream) {
  thrust::sort(thrust::cuda::par.on(stream), first, last);
}
