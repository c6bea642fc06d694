#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class A, class B, class T, class Sum, class Product, ROCM3D_IF_POLICY>
__host__ __device__ inline T inner_product(const Policy& policy, A first, A last, B second, T init, Sum sum, Product product) {
  const auto n = last - first;
  auto a = detail::raw(first);
  auto b = detail::raw(second);
  return detail::perform(policy, init, ROCM3D_WORK {
    T total = init;
    ROCM3D_FOR(i, n) total = sum(total, product(*(a + i), *(b + i)));
    return total;
  });
}
template <ROCM3D_POLICY, class A, class B, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline T inner_product(const Policy& policy, A first, A last, B second, T init) {
  return inner_product(policy, first, last, second, init, plus<T>(), multiplies<T>());
}

ROCM3D_WITHOUT_POLICY(inner_product)

}  // namespace thrust
