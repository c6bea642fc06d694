#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class In, class Out, class Equal, ROCM3D_IF_POLICY>
__host__ __device__ inline Out unique_copy(const Policy& policy, In first, In last, Out out, Equal equal) {
  const auto n = last - first;
  auto in = detail::raw(first);
  auto to = detail::raw(out);
  return detail::perform(policy, out, ROCM3D_WORK {
    std::ptrdiff_t made = 0;
    ROCM3D_FOR(i, n) if (i == 0 || !equal(*(in + (i - 1)), *(in + i))) *(to + made++) = *(in + i);
    return out + made;
  });
}
template <ROCM3D_POLICY, class In, class Out, ROCM3D_IF_POLICY>
__host__ __device__ inline Out unique_copy(const Policy& policy, In first, In last, Out out) {
  return unique_copy(policy, first, last, out, equal_to<>());
}
template <ROCM3D_POLICY, class In, class Equal, ROCM3D_IF_POLICY>
__host__ __device__ inline In unique(const Policy& policy, In first, In last, Equal equal) {
  return unique_copy(policy, first, last, first, equal);
}
template <ROCM3D_POLICY, class In, ROCM3D_IF_POLICY>
__host__ __device__ inline In unique(const Policy& policy, In first, In last) {
  return unique_copy(policy, first, last, first, equal_to<>());
}
template <ROCM3D_POLICY, class Keys, class Values, class Equal, ROCM3D_IF_POLICY>
__host__ __device__ inline pair<Keys, Values> unique_by_key(const Policy& policy, Keys first, Keys last, Values values,
                                                            Equal equal) {
  const auto n = last - first;
  auto keys = detail::raw(first);
  auto with = detail::raw(values);
  return detail::perform(policy, pair<Keys, Values>(first, values), ROCM3D_WORK {
    std::ptrdiff_t made = 0;
    ROCM3D_FOR(i, n) if (i == 0 || !equal(*(keys + (i - 1)), *(keys + i))) {
      *(keys + made) = *(keys + i);
      *(with + made++) = *(with + i);
    }
    return pair<Keys, Values>(first + made, values + made);
  });
}
template <ROCM3D_POLICY, class Keys, class Values, ROCM3D_IF_POLICY>
__host__ __device__ inline pair<Keys, Values> unique_by_key(const Policy& policy, Keys first, Keys last, Values values) {
  return unique_by_key(policy, first, last, values, equal_to<>());
}

ROCM3D_WITHOUT_POLICY(unique)
ROCM3D_WITHOUT_POLICY(unique_copy)
ROCM3D_WITHOUT_POLICY(unique_by_key)

}  // namespace thrust
