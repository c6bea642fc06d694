#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class In, class Predicate, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline void replace_if(const Policy& policy, In first, In last, Predicate predicate, const T& value) {
  const auto n = last - first;
  auto in = detail::raw(first);
  detail::perform(policy, 0, ROCM3D_WORK {
    ROCM3D_FOR(i, n) if (predicate(*(in + i))) *(in + i) = value;
    return 0;
  });
}
template <ROCM3D_POLICY, class In, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline void replace(const Policy& policy, In first, In last, const T& old, const T& value) {
  replace_if(policy, first, last, [=] __host__ __device__(const detail::value_t<In>& given) { return given == old; }, value);
}

ROCM3D_WITHOUT_POLICY(replace)
ROCM3D_WITHOUT_POLICY(replace_if)

}  // namespace thrust
