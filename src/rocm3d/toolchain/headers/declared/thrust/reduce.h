#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class In, class T, class Operation, ROCM3D_IF_POLICY>
__host__ __device__ inline T reduce(const Policy& policy, In first, In last, T init, Operation operation) {
  const auto n = last - first;
  auto in = detail::raw(first);
  T fetched = T();  // the result is copied into a value that exists before
  fetched = init;
  return detail::perform(policy, fetched, ROCM3D_WORK {
    T sum = init;
    ROCM3D_FOR(i, n) sum = operation(sum, *(in + i));
    return sum;
  });
}
template <ROCM3D_POLICY, class In, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline T reduce(const Policy& policy, In first, In last, T init) {
  return reduce(policy, first, last, init, plus<T>());
}
template <ROCM3D_POLICY, class In, ROCM3D_IF_POLICY>
__host__ __device__ inline detail::value_t<In> reduce(const Policy& policy, In first, In last) {
  return reduce(policy, first, last, detail::value_t<In>());
}

template <ROCM3D_POLICY, class Keys, class Values, class KeysOut, class ValuesOut, class Equal, class Operation, ROCM3D_IF_POLICY>
__host__ __device__ inline pair<KeysOut, ValuesOut> reduce_by_key(const Policy& policy, Keys first, Keys last, Values values,
                                                                  KeysOut keys_out, ValuesOut values_out, Equal equal,
                                                                  Operation operation) {
  const auto n = last - first;
  auto keys = detail::raw(first);
  auto from = detail::raw(values);
  auto to_keys = detail::raw(keys_out);
  auto to_values = detail::raw(values_out);
  return detail::perform(policy, pair<KeysOut, ValuesOut>(keys_out, values_out), ROCM3D_WORK {
    std::ptrdiff_t made = 0;
    detail::value_t<Values> sum = *from;
    ROCM3D_FOR(i, n) {
      if (i > 0 && equal(*(keys + (i - 1)), *(keys + i))) {
        sum = operation(sum, *(from + i));
      } else {
        sum = *(from + i);
        ++made;
      }
      *(to_keys + made) = *(keys + i);
      *(to_values + made) = sum;
    }
    return pair<KeysOut, ValuesOut>(keys_out + made, values_out + made);
  });
}
template <ROCM3D_POLICY, class Keys, class Values, class KeysOut, class ValuesOut, class Equal, ROCM3D_IF_POLICY>
__host__ __device__ inline pair<KeysOut, ValuesOut> reduce_by_key(const Policy& policy, Keys first, Keys last, Values values,
                                                                  KeysOut keys_out, ValuesOut values_out, Equal equal) {
  return reduce_by_key(policy, first, last, values, keys_out, values_out, equal, plus<>());
}
template <ROCM3D_POLICY, class Keys, class Values, class KeysOut, class ValuesOut, ROCM3D_IF_POLICY>
__host__ __device__ inline pair<KeysOut, ValuesOut> reduce_by_key(const Policy& policy, Keys first, Keys last, Values values,
                                                                  KeysOut keys_out, ValuesOut values_out) {
  return reduce_by_key(policy, first, last, values, keys_out, values_out, equal_to<>());
}

ROCM3D_WITHOUT_POLICY(reduce)
ROCM3D_WITHOUT_POLICY(reduce_by_key)

}  // namespace thrust
