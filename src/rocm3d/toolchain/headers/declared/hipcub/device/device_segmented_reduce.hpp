#pragma once

#include <hipcub/device/device_reduce.hpp>

namespace hipcub {

struct DeviceSegmentedReduce {
  template <class In, class Out, class Begin, class End, class Op, class T>
  static hipError_t Reduce(void*, size_t& bytes, In in, Out out, int segments, Begin begin, End end, Op op, T init,
                           hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          for (int s = 0; s < segments; ++s) {
            T sum = init;
            for (auto i = begin[s]; i < end[s]; ++i) sum = op(sum, in[i]);
            out[s] = sum;
          }
        },
        stream);
  }
  // The identity is made on the host, by the default constructor.
  template <class In, class Out, class Begin, class End>
  static hipError_t Sum(void* temp, size_t& bytes, In in, Out out, int segments, Begin begin, End end,
                        hipStream_t stream = 0) {
    using T = rocm3d_declared::value_t<In>;
    return Reduce(temp, bytes, in, out, segments, begin, end, ::hipcub::Sum(), T(), stream);
  }
  template <class In, class Out, class Begin, class End>
  static hipError_t Min(void* temp, size_t& bytes, In in, Out out, int segments, Begin begin, End end,
                        hipStream_t stream = 0) {
    using T = rocm3d_declared::value_t<In>;
    return Reduce(temp, bytes, in, out, segments, begin, end, ::hipcub::Min(), std::numeric_limits<T>::max(), stream);
  }
  template <class In, class Out, class Begin, class End>
  static hipError_t Max(void* temp, size_t& bytes, In in, Out out, int segments, Begin begin, End end,
                        hipStream_t stream = 0) {
    using T = rocm3d_declared::value_t<In>;
    return Reduce(temp, bytes, in, out, segments, begin, end, ::hipcub::Max(), std::numeric_limits<T>::lowest(), stream);
  }
  template <class In, class Out, class Begin, class End>
  static hipError_t ArgMin(void* temp, size_t& bytes, In in, Out out, int segments, Begin begin, End end,
                           hipStream_t stream = 0) {
    using T = rocm3d_declared::value_t<In>;
    ArgIndexInputIterator<In, int> indexed(in);
    return Reduce(temp, bytes, indexed, out, segments, begin, end, ::hipcub::ArgMin(),
                  KeyValuePair<int, T>(1, std::numeric_limits<T>::max()), stream);
  }
  template <class In, class Out, class Begin, class End>
  static hipError_t ArgMax(void* temp, size_t& bytes, In in, Out out, int segments, Begin begin, End end,
                           hipStream_t stream = 0) {
    using T = rocm3d_declared::value_t<In>;
    ArgIndexInputIterator<In, int> indexed(in);
    return Reduce(temp, bytes, indexed, out, segments, begin, end, ::hipcub::ArgMax(),
                  KeyValuePair<int, T>(1, std::numeric_limits<T>::lowest()), stream);
  }
};

}  // namespace hipcub
