__host__ __device__ inline void operator+=(float3& a, float3 b) {
  a = make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}

__host__ __device__ float3 total(float3 a, float3 b) {
  a += b;
  return a;
}
