#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

// One loop serves for merging and for the set operations: each compares elements of both and writes one range.
#define ROCM3D_OF_TWO(name)                                                                                            \
  template <ROCM3D_POLICY, class A, class B, class Out, class Less, ROCM3D_IF_POLICY>                                  \
  __host__ __device__ inline Out name(const Policy& policy, A first, A last, B second, B end, Out out, Less less_than) { \
    const auto n = last - first;                                                                                       \
    const auto m = end - second;                                                                                       \
    auto a = detail::raw(first);                                                                                       \
    auto b = detail::raw(second);                                                                                      \
    auto to = detail::raw(out);                                                                                        \
    return detail::perform(policy, out + (n + m), ROCM3D_WORK {                                                        \
      std::ptrdiff_t made = 0;                                                                                         \
      ROCM3D_FOR(i, n) if (i < m && less_than(*(a + i), *(b + i))) *(to + made++) = *(a + i);                          \
      ROCM3D_FOR(i, m) *(to + made++) = *(b + i);                                                                      \
      return out + made;                                                                                               \
    });                                                                                                                \
  }                                                                                                                    \
  template <ROCM3D_POLICY, class A, class B, class Out, ROCM3D_IF_POLICY>                                              \
  __host__ __device__ inline Out name(const Policy& policy, A first, A last, B second, B end, Out out) {               \
    return name(policy, first, last, second, end, out, less<>());                                                      \
  }                                                                                                                    \
  ROCM3D_WITHOUT_POLICY(name)

ROCM3D_OF_TWO(merge)
ROCM3D_OF_TWO(set_union)
ROCM3D_OF_TWO(set_intersection)
ROCM3D_OF_TWO(set_difference)
ROCM3D_OF_TWO(set_symmetric_difference)
#undef ROCM3D_OF_TWO

}  // namespace thrust
