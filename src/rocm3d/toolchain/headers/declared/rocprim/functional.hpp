#pragma once

#include <rocm3d_declared/work.h>

namespace rocprim {

template <class T = void>
struct plus {
  __host__ __device__ constexpr T operator()(const T& a, const T& b) const { return a + b; }
};
template <class T = void>
struct minus {
  __host__ __device__ constexpr T operator()(const T& a, const T& b) const { return a - b; }
};
template <class T = void>
struct multiplies {
  __host__ __device__ constexpr T operator()(const T& a, const T& b) const { return a * b; }
};
template <class T = void>
struct maximum {
  __host__ __device__ constexpr T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <class T = void>
struct minimum {
  __host__ __device__ constexpr T operator()(const T& a, const T& b) const { return a < b ? a : b; }
};
template <class T = void>
struct less {
  __host__ __device__ constexpr bool operator()(const T& a, const T& b) const { return a < b; }
};
template <class T = void>
struct greater {
  __host__ __device__ constexpr bool operator()(const T& a, const T& b) const { return a > b; }
};
template <class T>
__host__ __device__ constexpr T max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <class T>
__host__ __device__ constexpr T min(const T& a, const T& b) {
  return a < b ? a : b;
}

}  // namespace rocprim
