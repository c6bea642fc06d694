#pragma once

#include <hipcub/util_type.hpp>

namespace hipcub {

struct DeviceFor {
  template <class Shape, class Op>
  static hipError_t Bulk(Shape shape, Op op, hipStream_t stream = 0) {
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          for (Shape i = 0; i < shape; ++i) op(i);
        },
        stream);
  }
  template <class In, class Size, class Op>
  static hipError_t ForEachN(In first, Size n, Op op, hipStream_t stream = 0) {
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          for (Size i = 0; i < n; ++i) op(first[i]);
        },
        stream);
  }
  template <class In, class Op>
  static hipError_t ForEach(In first, In last, Op op, hipStream_t stream = 0) {
    return ForEachN(first, last - first, op, stream);
  }
};

}  // namespace hipcub
