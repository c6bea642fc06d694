#if !defined(USE_ROCM) && !defined(__HIP_PLATFORM_AMD__)
__host__ __device__ inline void operator+=(float3& a, float3 b) {
  a = make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
#endif

__host__ __device__ float3 total(float3 a, float3 b) {
  a += b;
  return a;
}
