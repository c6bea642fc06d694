struct Point {
  float x;
  float y;
};

__device__ inline Point operator+(Point a, Point b) {
  return {a.x + b.x, a.y + b.y};
}

// __device__ void operator+=(float3& a, float3 b);
