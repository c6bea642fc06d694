#pragma once

#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>

namespace thrust {

template <ROCM3D_POLICY, class In, class Out, class Function, class Operation, ROCM3D_IF_POLICY>
__host__ __device__ inline Out transform_inclusive_scan(const Policy& policy, In first, In last, Out out, Function function,
                                                        Operation operation) {
  return inclusive_scan(policy, make_transform_iterator(first, function), make_transform_iterator(last, function), out,
                        operation);
}
template <ROCM3D_POLICY, class In, class Out, class Function, class T, class Operation, ROCM3D_IF_POLICY>
__host__ __device__ inline Out transform_exclusive_scan(const Policy& policy, In first, In last, Out out, Function function,
                                                        T init, Operation operation) {
  return exclusive_scan(policy, make_transform_iterator(first, function), make_transform_iterator(last, function), out, init,
                        operation);
}

ROCM3D_WITHOUT_POLICY(transform_inclusive_scan)
ROCM3D_WITHOUT_POLICY(transform_exclusive_scan)

}  // namespace thrust
