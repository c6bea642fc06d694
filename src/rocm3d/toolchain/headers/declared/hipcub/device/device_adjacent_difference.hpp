#pragma once

#include <hipcub/thread/thread_operators.hpp>

namespace hipcub {

struct DeviceAdjacentDifference {
  template <class In, class Out, class Op = ::hipcub::Difference, class Size = int>
  static hipError_t SubtractLeftCopy(void*, size_t& bytes, In in, Out out, Size n, Op op = Op(), hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          for (Size i = 1; i < n; ++i) out[i] = op(in[i], in[i - 1]);
        },
        stream);
  }
  template <class In, class Op = ::hipcub::Difference, class Size = int>
  static hipError_t SubtractLeft(void* temp, size_t& bytes, In data, Size n, Op op = Op(), hipStream_t stream = 0) {
    return SubtractLeftCopy(temp, bytes, data, data, n, op, stream);
  }
  template <class In, class Out, class Op = ::hipcub::Difference, class Size = int>
  static hipError_t SubtractRightCopy(void* temp, size_t& bytes, In in, Out out, Size n, Op op = Op(),
                                      hipStream_t stream = 0) {
    return SubtractLeftCopy(temp, bytes, in, out, n, op, stream);
  }
};

}  // namespace hipcub
