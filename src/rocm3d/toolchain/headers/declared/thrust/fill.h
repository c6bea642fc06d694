#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class Out, class Size, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline Out fill_n(const Policy& policy, Out first, Size n, const T& value) {
  auto to = detail::raw(first);
  return detail::perform(policy, first + n, ROCM3D_WORK {
    ROCM3D_FOR(i, n) *(to + i) = value;
    return first + n;
  });
}
template <ROCM3D_POLICY, class Out, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline void fill(const Policy& policy, Out first, Out last, const T& value) {
  fill_n(policy, first, last - first, value);
}

ROCM3D_WITHOUT_POLICY(fill)
ROCM3D_WITHOUT_POLICY(fill_n)

}  // namespace thrust
