#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class In, class Out, class Function, ROCM3D_IF_POLICY>
__host__ __device__ inline Out transform(const Policy& policy, In first, In last, Out out, Function function) {
  const auto n = last - first;
  auto in = detail::raw(first);
  auto to = detail::raw(out);
  return detail::perform(policy, out + n, ROCM3D_WORK {
    ROCM3D_FOR(i, n) *(to + i) = function(*(in + i));
    return out + n;
  });
}
template <ROCM3D_POLICY, class A, class B, class Out, class Function, ROCM3D_IF_POLICY>
__host__ __device__ inline Out transform(const Policy& policy, A first, A last, B second, Out out, Function function) {
  const auto n = last - first;
  auto a = detail::raw(first);
  auto b = detail::raw(second);
  auto to = detail::raw(out);
  return detail::perform(policy, out + n, ROCM3D_WORK {
    ROCM3D_FOR(i, n) *(to + i) = function(*(a + i), *(b + i));
    return out + n;
  });
}
template <ROCM3D_POLICY, class In, class Out, class Function, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline Out transform_if(const Policy& policy, In first, In last, Out out, Function function,
                                            Predicate predicate) {
  const auto n = last - first;
  auto in = detail::raw(first);
  auto to = detail::raw(out);
  return detail::perform(policy, out + n, ROCM3D_WORK {
    ROCM3D_FOR(i, n) if (predicate(*(in + i))) *(to + i) = function(*(in + i));
    return out + n;
  });
}
template <ROCM3D_POLICY, class In, class Stencil, class Out, class Function, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline Out transform_if(const Policy& policy, In first, In last, Stencil stencil, Out out,
                                            Function function, Predicate predicate) {
  const auto n = last - first;
  auto in = detail::raw(first);
  auto mask = detail::raw(stencil);
  auto to = detail::raw(out);
  return detail::perform(policy, out + n, ROCM3D_WORK {
    ROCM3D_FOR(i, n) if (predicate(*(mask + i))) *(to + i) = function(*(in + i));
    return out + n;
  });
}

ROCM3D_WITHOUT_POLICY(transform)
ROCM3D_WITHOUT_POLICY(transform_if)

}  // namespace thrust
