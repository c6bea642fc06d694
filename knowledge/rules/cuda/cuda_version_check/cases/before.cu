#if CUDA_VERSION >= 11000
#include <cuda_bf16.h>
using wide_t = __nv_bfloat16;
#else
using wide_t = float;
#endif

__device__ void clear(wide_t* x, wide_t zero) { x[threadIdx.x] = zero; }
