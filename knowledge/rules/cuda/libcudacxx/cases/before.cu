#include <cuda/std/tuple>

struct Edge {
  int a;
  int b;
};

struct EdgeKey {
  __host__ __device__ cuda::std::tuple<int&, int&> operator()(Edge& e) const {
    return {e.a, e.b};
  }
};
