// Shared by the algorithms. Each is a plain loop, run by `perform`; only what it calls, and on which side, matters.
#pragma once

#include <thrust/device_ptr.h>
#include <thrust/functional.h>
#include <thrust/pair.h>
#include <thrust/tuple.h>

namespace thrust {
namespace detail {

template <class Iterator>
__host__ __device__ constexpr Iterator raw(Iterator given) {
  return given;
}
template <class T>
__host__ __device__ constexpr T* raw(device_ptr<T> given) {
  return given.get();
}

template <class Iterator>
using value_t = typename std::iterator_traits<Iterator>::value_type;

}  // namespace detail
}  // namespace thrust

#define ROCM3D_POLICY class Policy
#define ROCM3D_IF_POLICY class = ::thrust::detail::if_policy<Policy>
#define ROCM3D_WORK [=] __host__ __device__() mutable
#define ROCM3D_FOR(i, n) for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(n); ++i)
