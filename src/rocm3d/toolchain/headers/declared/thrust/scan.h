#pragma once

#include <thrust/detail/algorithm.h>

namespace thrust {

template <ROCM3D_POLICY, class In, class Out, class Operation, ROCM3D_IF_POLICY>
__host__ __device__ inline Out inclusive_scan(const Policy& policy, In first, In last, Out out, Operation operation) {
  const auto n = last - first;
  auto in = detail::raw(first);
  auto to = detail::raw(out);
  return detail::perform(policy, out + n, ROCM3D_WORK {
    detail::value_t<In> sum = *in;
    ROCM3D_FOR(i, n) {
      if (i > 0) sum = operation(sum, *(in + i));
      *(to + i) = sum;
    }
    return out + n;
  });
}
template <ROCM3D_POLICY, class In, class Out, ROCM3D_IF_POLICY>
__host__ __device__ inline Out inclusive_scan(const Policy& policy, In first, In last, Out out) {
  return inclusive_scan(policy, first, last, out, plus<>());
}
template <ROCM3D_POLICY, class In, class Out, class T, class Operation, ROCM3D_IF_POLICY>
__host__ __device__ inline Out exclusive_scan(const Policy& policy, In first, In last, Out out, T init, Operation operation) {
  const auto n = last - first;
  auto in = detail::raw(first);
  auto to = detail::raw(out);
  return detail::perform(policy, out + n, ROCM3D_WORK {
    T sum = init;
    ROCM3D_FOR(i, n) {
      T next = operation(sum, *(in + i));
      *(to + i) = sum;
      sum = next;
    }
    return out + n;
  });
}
template <ROCM3D_POLICY, class In, class Out, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline Out exclusive_scan(const Policy& policy, In first, In last, Out out, T init) {
  return exclusive_scan(policy, first, last, out, init, plus<>());
}
template <ROCM3D_POLICY, class In, class Out, ROCM3D_IF_POLICY>
__host__ __device__ inline Out exclusive_scan(const Policy& policy, In first, In last, Out out) {
  return exclusive_scan(policy, first, last, out, detail::value_t<In>());
}

template <ROCM3D_POLICY, class Keys, class In, class Out, class Equal, class Operation, ROCM3D_IF_POLICY>
__host__ __device__ inline Out inclusive_scan_by_key(const Policy& policy, Keys first, Keys last, In values, Out out,
                                                     Equal equal, Operation operation) {
  const auto n = last - first;
  auto keys = detail::raw(first);
  auto in = detail::raw(values);
  auto to = detail::raw(out);
  return detail::perform(policy, out + n, ROCM3D_WORK {
    detail::value_t<In> sum = *in;
    ROCM3D_FOR(i, n) {
      if (i > 0 && equal(*(keys + (i - 1)), *(keys + i))) {
        sum = operation(sum, *(in + i));
      } else {
        sum = *(in + i);
      }
      *(to + i) = sum;
    }
    return out + n;
  });
}
template <ROCM3D_POLICY, class Keys, class In, class Out, class Equal, ROCM3D_IF_POLICY>
__host__ __device__ inline Out inclusive_scan_by_key(const Policy& policy, Keys first, Keys last, In values, Out out, Equal equal) {
  return inclusive_scan_by_key(policy, first, last, values, out, equal, plus<>());
}
template <ROCM3D_POLICY, class Keys, class In, class Out, ROCM3D_IF_POLICY>
__host__ __device__ inline Out inclusive_scan_by_key(const Policy& policy, Keys first, Keys last, In values, Out out) {
  return inclusive_scan_by_key(policy, first, last, values, out, equal_to<>());
}
template <ROCM3D_POLICY, class Keys, class In, class Out, class T, class Equal, class Operation, ROCM3D_IF_POLICY>
__host__ __device__ inline Out exclusive_scan_by_key(const Policy& policy, Keys first, Keys last, In values, Out out, T init,
                                                     Equal equal, Operation operation) {
  const auto n = last - first;
  auto keys = detail::raw(first);
  auto in = detail::raw(values);
  auto to = detail::raw(out);
  return detail::perform(policy, out + n, ROCM3D_WORK {
    T sum = init;
    ROCM3D_FOR(i, n) {
      if (i > 0 && !equal(*(keys + (i - 1)), *(keys + i))) sum = init;
      T next = operation(sum, *(in + i));
      *(to + i) = sum;
      sum = next;
    }
    return out + n;
  });
}
template <ROCM3D_POLICY, class Keys, class In, class Out, class T, class Equal, ROCM3D_IF_POLICY>
__host__ __device__ inline Out exclusive_scan_by_key(const Policy& policy, Keys first, Keys last, In values, Out out, T init,
                                                     Equal equal) {
  return exclusive_scan_by_key(policy, first, last, values, out, init, equal, plus<>());
}
template <ROCM3D_POLICY, class Keys, class In, class Out, class T, ROCM3D_IF_POLICY>
__host__ __device__ inline Out exclusive_scan_by_key(const Policy& policy, Keys first, Keys last, In values, Out out, T init) {
  return exclusive_scan_by_key(policy, first, last, values, out, init, equal_to<>());
}
template <ROCM3D_POLICY, class Keys, class In, class Out, ROCM3D_IF_POLICY>
__host__ __device__ inline Out exclusive_scan_by_key(const Policy& policy, Keys first, Keys last, In values, Out out) {
  return exclusive_scan_by_key(policy, first, last, values, out, detail::value_t<In>());
}

ROCM3D_WITHOUT_POLICY(inclusive_scan)
ROCM3D_WITHOUT_POLICY(exclusive_scan)
ROCM3D_WITHOUT_POLICY(inclusive_scan_by_key)
ROCM3D_WITHOUT_POLICY(exclusive_scan_by_key)

}  // namespace thrust
