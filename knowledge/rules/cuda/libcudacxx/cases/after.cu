#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
#include <rocprim/types/tuple.hpp>
#else
#include <cuda/std/tuple>
#endif

struct Edge {
  int a;
  int b;
};

struct EdgeKey {
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
  __host__ __device__ ::rocprim::tuple<int&, int&> operator()(Edge& e) const {
    return ::rocprim::tuple<int&, int&>(e.a, e.b);
  }
#else
  __host__ __device__ cuda::std::tuple<int&, int&> operator()(Edge& e) const {
    return {e.a, e.b};
  }
#endif
};
