#pragma once

#include <thrust/reduce.h>

namespace thrust {

template <ROCM3D_POLICY, class In, class Function, class T, class Operation, ROCM3D_IF_POLICY>
__host__ __device__ inline T transform_reduce(const Policy& policy, In first, In last, Function function, T init,
                                              Operation operation) {
  const auto n = last - first;
  auto in = detail::raw(first);
  return detail::perform(policy, init, ROCM3D_WORK {
    T sum = init;
    ROCM3D_FOR(i, n) sum = operation(sum, function(*(in + i)));
    return sum;
  });
}

ROCM3D_WITHOUT_POLICY(transform_reduce)

}  // namespace thrust
