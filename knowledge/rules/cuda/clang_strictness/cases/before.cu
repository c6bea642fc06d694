#include <cuda_runtime.h>

__device__ float3 lowest() {
  return make_float3(-FLT_MAX, -FLT_MAX, -FLT_MAX);
}
