#pragma once

#include <thrust/copy.h>

namespace thrust {

template <ROCM3D_POLICY, class In, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline In partition(const Policy& policy, In first, In last, Predicate predicate) {
  return copy_if(policy, first, last, first, predicate);
}
template <ROCM3D_POLICY, class In, class Stencil, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline In partition(const Policy& policy, In first, In last, Stencil stencil, Predicate predicate) {
  return copy_if(policy, first, last, stencil, first, predicate);
}
template <ROCM3D_POLICY, class In, class... Rest, ROCM3D_IF_POLICY>
__host__ __device__ inline In stable_partition(const Policy& policy, In first, In last, Rest... rest) {
  return partition(policy, first, last, rest...);
}
template <ROCM3D_POLICY, class In, class Yes, class No, class Predicate, ROCM3D_IF_POLICY>
__host__ __device__ inline pair<Yes, No> partition_copy(const Policy& policy, In first, In last, Yes yes, No no,
                                                        Predicate predicate) {
  Yes end = copy_if(policy, first, last, yes, predicate);
  return pair<Yes, No>(end, copy_if(policy, first, last, no, predicate));
}

ROCM3D_WITHOUT_POLICY(partition)
ROCM3D_WITHOUT_POLICY(stable_partition)
ROCM3D_WITHOUT_POLICY(partition_copy)

}  // namespace thrust
