#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

namespace detail {
template <class In, class T, class Less>
__host__ __device__ inline std::ptrdiff_t lower(In in, std::ptrdiff_t n, const T& value, Less less_than) {
  ROCM3D_FOR(i, n) if (!less_than(*(in + i), value)) return i;
  return n;
}
template <class In, class T, class Less>
__host__ __device__ inline std::ptrdiff_t upper(In in, std::ptrdiff_t n, const T& value, Less less_than) {
  ROCM3D_FOR(i, n) if (less_than(value, *(in + i))) return i;
  return n;
}
}  // namespace detail

#define ROCM3D_SEARCH(name, side)                                                                                     \
  template <ROCM3D_POLICY, class In, class T, class Less, ROCM3D_IF_POLICY,                                           \
            class = std::enable_if_t<std::is_convertible_v<T, detail::value_t<In>>>>                                  \
  __host__ __device__ inline In name(const Policy& policy, In first, In last, const T& value, Less less_than) {       \
    auto in = detail::raw(first);                                                                                     \
    const auto n = last - first;                                                                                      \
    return detail::perform(policy, first, ROCM3D_WORK { return first + detail::side(in, n, value, less_than); });     \
  }                                                                                                                   \
  template <ROCM3D_POLICY, class In, class T, ROCM3D_IF_POLICY>                                                       \
  __host__ __device__ inline In name(const Policy& policy, In first, In last, const T& value) {                       \
    return name(policy, first, last, value, less<>());                                                                \
  }                                                                                                                   \
  template <ROCM3D_POLICY, class In, class Values, class Out, class Less, ROCM3D_IF_POLICY>                           \
  __host__ __device__ inline Out name(const Policy& policy, In first, In last, Values begin, Values end, Out out,     \
                                      Less less_than) {                                                               \
    auto in = detail::raw(first);                                                                                     \
    auto values = detail::raw(begin);                                                                                 \
    auto to = detail::raw(out);                                                                                       \
    const auto n = last - first;                                                                                      \
    const auto m = end - begin;                                                                                       \
    return detail::perform(policy, out + m, ROCM3D_WORK {                                                             \
      ROCM3D_FOR(i, m) *(to + i) = detail::side(in, n, *(values + i), less_than);                                     \
      return out + m;                                                                                                 \
    });                                                                                                               \
  }                                                                                                                   \
  template <ROCM3D_POLICY, class In, class Values, class Out, ROCM3D_IF_POLICY>                                       \
  __host__ __device__ inline Out name(const Policy& policy, In first, In last, Values begin, Values end, Out out) {   \
    return name(policy, first, last, begin, end, out, less<>());                                                      \
  }

ROCM3D_SEARCH(lower_bound, lower)
ROCM3D_SEARCH(upper_bound, upper)
#undef ROCM3D_SEARCH

template <ROCM3D_POLICY, class In, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline bool binary_search(const Policy& policy, In first, In last, const T& value) {
  return lower_bound(policy, first, last, value) != upper_bound(policy, first, last, value);
}
template <ROCM3D_POLICY, class In, class Values, class Out, ROCM3D_IF_POLICY>
__host__ __device__ inline Out binary_search(const Policy& policy, In first, In last, Values begin, Values end, Out out) {
  return lower_bound(policy, first, last, begin, end, out);
}

ROCM3D_WITHOUT_POLICY(lower_bound)
ROCM3D_WITHOUT_POLICY(upper_bound)
ROCM3D_WITHOUT_POLICY(binary_search)

}  // namespace thrust
