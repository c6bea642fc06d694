#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class Out, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline void sequence(const Policy& policy, Out first, Out last, T init, T step) {
  const auto n = last - first;
  auto to = detail::raw(first);
  detail::perform(policy, 0, ROCM3D_WORK {
    ROCM3D_FOR(i, n) *(to + i) = init + static_cast<T>(i) * step;
    return 0;
  });
}
template <ROCM3D_POLICY, class Out, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline void sequence(const Policy& policy, Out first, Out last, T init) {
  sequence(policy, first, last, init, T(1));
}
template <ROCM3D_POLICY, class Out, ROCM3D_IF_POLICY>
__host__ __device__ inline void sequence(const Policy& policy, Out first, Out last) {
  sequence(policy, first, last, detail::value_t<Out>(0));
}
template <ROCM3D_POLICY, class Out, class Function, ROCM3D_IF_POLICY>
__host__ __device__ inline void tabulate(const Policy& policy, Out first, Out last, Function function) {
  const auto n = last - first;
  auto to = detail::raw(first);
  detail::perform(policy, 0, ROCM3D_WORK {
    ROCM3D_FOR(i, n) *(to + i) = function(i);
    return 0;
  });
}
template <ROCM3D_POLICY, class Out, class Function, ROCM3D_IF_POLICY>
__host__ __device__ inline void generate(const Policy& policy, Out first, Out last, Function function) {
  const auto n = last - first;
  auto to = detail::raw(first);
  detail::perform(policy, 0, ROCM3D_WORK {
    ROCM3D_FOR(i, n) *(to + i) = function();
    return 0;
  });
}

ROCM3D_WITHOUT_POLICY(sequence)
ROCM3D_WITHOUT_POLICY(tabulate)
ROCM3D_WITHOUT_POLICY(generate)

}  // namespace thrust
