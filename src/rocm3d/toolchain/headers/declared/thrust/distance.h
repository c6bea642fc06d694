#pragma once

#include <thrust/detail/config.h>

namespace thrust {

template <class Iterator>
__host__ __device__ constexpr std::ptrdiff_t distance(Iterator first, Iterator last) {
  return last - first;
}
template <class Iterator, class Distance>
__host__ __device__ constexpr void advance(Iterator& it, Distance n) {
  it += n;
}
template <class Iterator>
__host__ __device__ constexpr Iterator next(Iterator it, std::ptrdiff_t n = 1) {
  return it + n;
}
template <class Iterator>
__host__ __device__ constexpr Iterator prev(Iterator it, std::ptrdiff_t n = 1) {
  return it - n;
}

}  // namespace thrust
