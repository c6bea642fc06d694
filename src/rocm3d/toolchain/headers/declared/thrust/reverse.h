#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class A, class B, ROCM3D_IF_POLICY>
__host__ __device__ inline B swap_ranges(const Policy& policy, A first, A last, B second) {
  const auto n = last - first;
  auto a = detail::raw(first);
  auto b = detail::raw(second);
  return detail::perform(policy, second + n, ROCM3D_WORK {
    ROCM3D_FOR(i, n) {
      detail::value_t<A> kept = *(a + i);
      *(a + i) = *(b + i);
      *(b + i) = kept;
    }
    return second + n;
  });
}
template <ROCM3D_POLICY, class In, class Out, ROCM3D_IF_POLICY>
__host__ __device__ inline Out reverse_copy(const Policy& policy, In first, In last, Out out) {
  const auto n = last - first;
  auto in = detail::raw(first);
  auto to = detail::raw(out);
  return detail::perform(policy, out + n, ROCM3D_WORK {
    ROCM3D_FOR(i, n) *(to + i) = *(in + (n - 1 - i));
    return out + n;
  });
}
template <ROCM3D_POLICY, class In, ROCM3D_IF_POLICY>
__host__ __device__ inline void reverse(const Policy& policy, In first, In last) {
  reverse_copy(policy, first, last, first);
}
template <class T>
__host__ __device__ inline void swap(T& a, T& b) {
  T kept = a;
  a = b;
  b = kept;
}

ROCM3D_WITHOUT_POLICY(swap_ranges)
ROCM3D_WITHOUT_POLICY(reverse_copy)
ROCM3D_WITHOUT_POLICY(reverse)

}  // namespace thrust
