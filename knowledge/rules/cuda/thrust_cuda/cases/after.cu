#include <thrust/sort.h>
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
#include <thrust/system/hip/execution_policy.h>
#else
#include <thrust/system/cuda/execution_policy.h>
#endif

void sort_keys(int* first, int* last, cudaStream_t stream) {
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  thrust::sort(thrust::hip::par.on(stream), first, last);
#else
  thrust::sort(thrust::cuda::par.on(stream), first, last);
#endif
}
