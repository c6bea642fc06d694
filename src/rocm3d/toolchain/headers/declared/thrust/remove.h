#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class In, class Stencil, class Out, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline Out remove_copy_if(const Policy& policy, In first, In last, Stencil stencil, Out out,
                                              Predicate predicate) {
  const auto n = last - first;
  auto in = detail::raw(first);
  auto mask = detail::raw(stencil);
  auto to = detail::raw(out);
  return detail::perform(policy, out, ROCM3D_WORK {
    std::ptrdiff_t made = 0;
    ROCM3D_FOR(i, n) if (!predicate(*(mask + i))) *(to + made++) = *(in + i);
    return out + made;
  });
}
template <ROCM3D_POLICY, class In, class Out, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline Out remove_copy_if(const Policy& policy, In first, In last, Out out, Predicate predicate) {
  return remove_copy_if(policy, first, last, first, out, predicate);
}
template <ROCM3D_POLICY, class In, class Stencil, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline In remove_if(const Policy& policy, In first, In last, Stencil stencil, Predicate predicate) {
  return remove_copy_if(policy, first, last, stencil, first, predicate);
}
template <ROCM3D_POLICY, class In, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline In remove_if(const Policy& policy, In first, In last, Predicate predicate) {
  return remove_copy_if(policy, first, last, first, first, predicate);
}
template <ROCM3D_POLICY, class In, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline In remove(const Policy& policy, In first, In last, const T& value) {
  return remove_if(policy, first, last,
                   [=] __host__ __device__(const detail::value_t<In>& given) { return given == value; });
}

ROCM3D_WITHOUT_POLICY(remove)
ROCM3D_WITHOUT_POLICY(remove_if)
ROCM3D_WITHOUT_POLICY(remove_copy_if)

}  // namespace thrust
