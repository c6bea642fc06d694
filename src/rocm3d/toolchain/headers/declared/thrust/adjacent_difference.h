#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class In, class Out, class Operation, ROCM3D_IF_POLICY>
__host__ __device__ inline Out adjacent_difference(const Policy& policy, In first, In last, Out out, Operation operation) {
  const auto n = last - first;
  auto in = detail::raw(first);
  auto to = detail::raw(out);
  return detail::perform(policy, out + n, ROCM3D_WORK {
    *to = *in;
    ROCM3D_FOR(i, n - 1) *(to + (i + 1)) = operation(*(in + (i + 1)), *(in + i));
    return out + n;
  });
}
template <ROCM3D_POLICY, class In, class Out, ROCM3D_IF_POLICY>
__host__ __device__ inline Out adjacent_difference(const Policy& policy, In first, In last, Out out) {
  return adjacent_difference(policy, first, last, out, minus<>());
}

ROCM3D_WITHOUT_POLICY(adjacent_difference)

}  // namespace thrust
