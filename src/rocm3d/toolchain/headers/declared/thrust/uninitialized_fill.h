#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class Out, class Size, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline Out uninitialized_fill_n(const Policy& policy, Out first, Size n, const T& value) {
  auto to = detail::raw(first);
  return detail::perform(policy, first + n, ROCM3D_WORK {
    ROCM3D_FOR(i, n) *(to + i) = value;
    return first + n;
  });
}
template <ROCM3D_POLICY, class Out, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline void uninitialized_fill(const Policy& policy, Out first, Out last, const T& value) {
  uninitialized_fill_n(policy, first, last - first, value);
}

ROCM3D_WITHOUT_POLICY(uninitialized_fill)
ROCM3D_WITHOUT_POLICY(uninitialized_fill_n)

}  // namespace thrust
