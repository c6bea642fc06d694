#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class In, class Less, ROCM3D_IF_POLICY>
__host__ __device__ inline void sort(const Policy& policy, In first, In last, Less less_than) {
  const auto n = last - first;
  auto in = detail::raw(first);
  detail::perform(policy, 0, ROCM3D_WORK {
    ROCM3D_FOR(i, n - 1) {
      detail::value_t<In> a = *(in + i), b = *(in + (i + 1));
      if (less_than(b, a)) {
        *(in + i) = b;
        *(in + (i + 1)) = a;
      }
    }
    return 0;
  });
}
template <ROCM3D_POLICY, class In, ROCM3D_IF_POLICY>
__host__ __device__ inline void sort(const Policy& policy, In first, In last) {
  sort(policy, first, last, less<detail::value_t<In>>());
}
template <ROCM3D_POLICY, class In, class... Less, ROCM3D_IF_POLICY>
__host__ __device__ inline void stable_sort(const Policy& policy, In first, In last, Less... less_than) {
  sort(policy, first, last, less_than...);
}
template <ROCM3D_POLICY, class Keys, class Values, class Less, ROCM3D_IF_POLICY>
__host__ __device__ inline void sort_by_key(const Policy& policy, Keys first, Keys last, Values values, Less less_than) {
  const auto n = last - first;
  auto keys = detail::raw(first);
  auto with = detail::raw(values);
  detail::perform(policy, 0, ROCM3D_WORK {
    ROCM3D_FOR(i, n - 1) {
      detail::value_t<Keys> a = *(keys + i), b = *(keys + (i + 1));
      detail::value_t<Values> v = *(with + i), w = *(with + (i + 1));
      if (less_than(b, a)) {
        *(keys + i) = b;
        *(keys + (i + 1)) = a;
        *(with + i) = w;
        *(with + (i + 1)) = v;
      }
    }
    return 0;
  });
}
template <ROCM3D_POLICY, class Keys, class Values, ROCM3D_IF_POLICY>
__host__ __device__ inline void sort_by_key(const Policy& policy, Keys first, Keys last, Values values) {
  sort_by_key(policy, first, last, values, less<detail::value_t<Keys>>());
}
template <ROCM3D_POLICY, class Keys, class Values, class... Less, ROCM3D_IF_POLICY>
__host__ __device__ inline void stable_sort_by_key(const Policy& policy, Keys first, Keys last, Values values,
                                                   Less... less_than) {
  sort_by_key(policy, first, last, values, less_than...);
}
template <ROCM3D_POLICY, class In, class Less, ROCM3D_IF_POLICY>
__host__ __device__ inline bool is_sorted(const Policy& policy, In first, In last, Less less_than) {
  const auto n = last - first;
  auto in = detail::raw(first);
  return detail::perform(policy, true, ROCM3D_WORK {
    ROCM3D_FOR(i, n - 1) if (less_than(*(in + (i + 1)), *(in + i))) return false;
    return true;
  });
}
template <ROCM3D_POLICY, class In, ROCM3D_IF_POLICY>
__host__ __device__ inline bool is_sorted(const Policy& policy, In first, In last) {
  return is_sorted(policy, first, last, less<detail::value_t<In>>());
}

ROCM3D_WITHOUT_POLICY(sort)
ROCM3D_WITHOUT_POLICY(stable_sort)
ROCM3D_WITHOUT_POLICY(sort_by_key)
ROCM3D_WITHOUT_POLICY(stable_sort_by_key)
ROCM3D_WITHOUT_POLICY(is_sorted)

}  // namespace thrust
