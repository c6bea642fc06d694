#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class A, class B, class Equal, ROCM3D_IF_POLICY>
__host__ __device__ inline pair<A, B> mismatch(const Policy& policy, A first, A last, B second, Equal same) {
  const auto n = last - first;
  auto a = detail::raw(first);
  auto b = detail::raw(second);
  return detail::perform(policy, pair<A, B>(last, second), ROCM3D_WORK {
    ROCM3D_FOR(i, n) if (!same(*(a + i), *(b + i))) return pair<A, B>(first + i, second + i);
    return pair<A, B>(last, second + n);
  });
}
template <ROCM3D_POLICY, class A, class B, ROCM3D_IF_POLICY>
__host__ __device__ inline pair<A, B> mismatch(const Policy& policy, A first, A last, B second) {
  return mismatch(policy, first, last, second, equal_to<>());
}
template <ROCM3D_POLICY, class A, class B, class... Equal, ROCM3D_IF_POLICY>
__host__ __device__ inline bool equal(const Policy& policy, A first, A last, B second, Equal... same) {
  return mismatch(policy, first, last, second, same...).first == last;
}

ROCM3D_WITHOUT_POLICY(mismatch)
ROCM3D_WITHOUT_POLICY(equal)

}  // namespace thrust
