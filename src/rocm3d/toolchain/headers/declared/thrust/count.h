#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class In, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline std::ptrdiff_t count_if(const Policy& policy, In first, In last, Predicate predicate) {
  const auto n = last - first;
  auto in = detail::raw(first);
  return detail::perform(policy, std::ptrdiff_t(0), ROCM3D_WORK {
    std::ptrdiff_t found = 0;
    ROCM3D_FOR(i, n) found += predicate(*(in + i)) ? 1 : 0;
    return found;
  });
}
template <ROCM3D_POLICY, class In, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline std::ptrdiff_t count(const Policy& policy, In first, In last, const T& value) {
  return count_if(policy, first, last, [=] __host__ __device__(const detail::value_t<In>& given) { return given == value; });
}

ROCM3D_WITHOUT_POLICY(count)
ROCM3D_WITHOUT_POLICY(count_if)

}  // namespace thrust
