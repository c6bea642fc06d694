#if !defined(USE_ROCM) && !defined(__HIP_PLATFORM_AMD__)
__device__ inline void operator+=(float3& a, float3 b) {
  a.x += b.x;
  a.y += b.y;
  a.z += b.z;
}
#endif

__device__ inline float dot(float3 a, float3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
