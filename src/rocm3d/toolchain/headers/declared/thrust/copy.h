#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class In, class Size, class Out, ROCM3D_IF_POLICY>
__host__ __device__ inline Out copy_n(const Policy& policy, In first, Size n, Out out) {
  auto in = detail::raw(first);
  auto to = detail::raw(out);
  return detail::perform(policy, out + n, ROCM3D_WORK {
    ROCM3D_FOR(i, n) *(to + i) = *(in + i);
    return out + n;
  });
}
template <ROCM3D_POLICY, class In, class Out, ROCM3D_IF_POLICY>
__host__ __device__ inline Out copy(const Policy& policy, In first, In last, Out out) {
  return copy_n(policy, first, last - first, out);
}
template <ROCM3D_POLICY, class In, class Stencil, class Out, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline Out copy_if(const Policy& policy, In first, In last, Stencil stencil, Out out, Predicate predicate) {
  const auto n = last - first;
  auto in = detail::raw(first);
  auto mask = detail::raw(stencil);
  auto to = detail::raw(out);
  return detail::perform(policy, out, ROCM3D_WORK {
    std::ptrdiff_t made = 0;
    ROCM3D_FOR(i, n) if (predicate(*(mask + i))) *(to + made++) = *(in + i);
    return out + made;
  });
}
template <ROCM3D_POLICY, class In, class Out, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline Out copy_if(const Policy& policy, In first, In last, Out out, Predicate predicate) {
  return copy_if(policy, first, last, first, out, predicate);
}

ROCM3D_WITHOUT_POLICY(copy_if)

// From one system to the other the bytes are copied, so no kernel sees both.
template <class In, class Out, class = detail::unless_policy<In>>
__host__ __device__ inline Out copy(In first, In last, Out out) {
  if constexpr (detail::is_of_device<In> == detail::is_of_device<Out>) {
    return copy(detail::system_of<In, Out>{}, first, last, out);
  } else {
    return out + (last - first);
  }
}
template <class In, class Size, class Out, class = detail::unless_policy<In>>
__host__ __device__ inline Out copy_n(In first, Size n, Out out) {
  return thrust::copy(first, first + n, out);
}

}  // namespace thrust
