#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class Map, class In, class Out, ROCM3D_IF_POLICY>
__host__ __device__ inline Out gather(const Policy& policy, Map first, Map last, In from, Out out) {
  const auto n = last - first;
  auto map = detail::raw(first);
  auto in = detail::raw(from);
  auto to = detail::raw(out);
  return detail::perform(policy, out + n, ROCM3D_WORK {
    ROCM3D_FOR(i, n) *(to + i) = *(in + *(map + i));
    return out + n;
  });
}
template <ROCM3D_POLICY, class In, class Map, class Out, ROCM3D_IF_POLICY>
__host__ __device__ inline void scatter(const Policy& policy, In first, In last, Map places, Out out) {
  const auto n = last - first;
  auto in = detail::raw(first);
  auto map = detail::raw(places);
  auto to = detail::raw(out);
  detail::perform(policy, 0, ROCM3D_WORK {
    ROCM3D_FOR(i, n) *(to + *(map + i)) = *(in + i);
    return 0;
  });
}
template <ROCM3D_POLICY, class In, class Map, class Stencil, class Out, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline void scatter_if(const Policy& policy, In first, In last, Map places, Stencil stencil, Out out,
                                           Predicate predicate) {
  const auto n = last - first;
  auto in = detail::raw(first);
  auto map = detail::raw(places);
  auto mask = detail::raw(stencil);
  auto to = detail::raw(out);
  detail::perform(policy, 0, ROCM3D_WORK {
    ROCM3D_FOR(i, n) if (predicate(*(mask + i))) *(to + *(map + i)) = *(in + i);
    return 0;
  });
}

ROCM3D_WITHOUT_POLICY(gather)
ROCM3D_WITHOUT_POLICY(scatter)
ROCM3D_WITHOUT_POLICY(scatter_if)

}  // namespace thrust
