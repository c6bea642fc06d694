#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class In, class Size, class Function, ROCM3D_IF_POLICY>
__host__ __device__ inline In for_each_n(const Policy& policy, In first, Size n, Function function) {
  auto in = detail::raw(first);
  return detail::perform(policy, first + n, ROCM3D_WORK {
    ROCM3D_FOR(i, n) function(*(in + i));
    return first + n;
  });
}
template <ROCM3D_POLICY, class In, class Function, ROCM3D_IF_POLICY>
__host__ __device__ inline In for_each(const Policy& policy, In first, In last, Function function) {
  return for_each_n(policy, first, last - first, function);
}

ROCM3D_WITHOUT_POLICY(for_each)
ROCM3D_WITHOUT_POLICY(for_each_n)

}  // namespace thrust
