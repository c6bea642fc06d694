#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <class T, class Less = less<T>>
__host__ __device__ constexpr T min(const T& a, const T& b, Less less_than = Less()) {
  return less_than(b, a) ? b : a;
}
template <class T, class Less = less<T>>
__host__ __device__ constexpr T max(const T& a, const T& b, Less less_than = Less()) {
  return less_than(a, b) ? b : a;
}

template <ROCM3D_POLICY, class In, class Less, ROCM3D_IF_POLICY>
__host__ __device__ inline In min_element(const Policy& policy, In first, In last, Less less_than) {
  const auto n = last - first;
  auto in = detail::raw(first);
  return detail::perform(policy, first, ROCM3D_WORK {
    std::ptrdiff_t best = 0;
    ROCM3D_FOR(i, n) if (less_than(*(in + i), *(in + best))) best = i;
    return first + best;
  });
}
template <ROCM3D_POLICY, class In, ROCM3D_IF_POLICY>
__host__ __device__ inline In min_element(const Policy& policy, In first, In last) {
  return min_element(policy, first, last, less<detail::value_t<In>>());
}
template <ROCM3D_POLICY, class In, class Less, ROCM3D_IF_POLICY>
__host__ __device__ inline In max_element(const Policy& policy, In first, In last, Less less_than) {
  const auto n = last - first;
  auto in = detail::raw(first);
  return detail::perform(policy, first, ROCM3D_WORK {
    std::ptrdiff_t best = 0;
    ROCM3D_FOR(i, n) if (less_than(*(in + best), *(in + i))) best = i;
    return first + best;
  });
}
template <ROCM3D_POLICY, class In, ROCM3D_IF_POLICY>
__host__ __device__ inline In max_element(const Policy& policy, In first, In last) {
  return max_element(policy, first, last, less<detail::value_t<In>>());
}
template <ROCM3D_POLICY, class In, class... Less, ROCM3D_IF_POLICY>
__host__ __device__ inline pair<In, In> minmax_element(const Policy& policy, In first, In last, Less... less_than) {
  return pair<In, In>(min_element(policy, first, last, less_than...), max_element(policy, first, last, less_than...));
}

ROCM3D_WITHOUT_POLICY(min_element)
ROCM3D_WITHOUT_POLICY(max_element)
ROCM3D_WITHOUT_POLICY(minmax_element)

}  // namespace thrust
