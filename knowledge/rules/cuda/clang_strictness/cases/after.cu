#include <cuda_runtime.h>
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
#include <cfloat>
#endif

__device__ float3 lowest() {
  return make_float3(-FLT_MAX, -FLT_MAX, -FLT_MAX);
}
