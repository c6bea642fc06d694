#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class In, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline In find_if(const Policy& policy, In first, In last, Predicate predicate) {
  const auto n = last - first;
  auto in = detail::raw(first);
  return detail::perform(policy, last, ROCM3D_WORK {
    ROCM3D_FOR(i, n) if (predicate(*(in + i))) return first + i;
    return last;
  });
}
template <ROCM3D_POLICY, class In, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline In find_if_not(const Policy& policy, In first, In last, Predicate predicate) {
  return find_if(policy, first, last, not_fn(predicate));
}
template <ROCM3D_POLICY, class In, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline In find(const Policy& policy, In first, In last, const T& value) {
  return find_if(policy, first, last, [=] __host__ __device__(const detail::value_t<In>& given) { return given == value; });
}
template <ROCM3D_POLICY, class In, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline bool any_of(const Policy& policy, In first, In last, Predicate predicate) {
  return find_if(policy, first, last, predicate) != last;
}
template <ROCM3D_POLICY, class In, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline bool none_of(const Policy& policy, In first, In last, Predicate predicate) {
  return find_if(policy, first, last, predicate) == last;
}
template <ROCM3D_POLICY, class In, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline bool all_of(const Policy& policy, In first, In last, Predicate predicate) {
  return find_if(policy, first, last, not_fn(predicate)) == last;
}

ROCM3D_WITHOUT_POLICY(find)
ROCM3D_WITHOUT_POLICY(find_if)
ROCM3D_WITHOUT_POLICY(find_if_not)
ROCM3D_WITHOUT_POLICY(any_of)
ROCM3D_WITHOUT_POLICY(none_of)
ROCM3D_WITHOUT_POLICY(all_of)

}  // namespace thrust
