#pragma once

#include <hipcub/iterator/arg_index_input_iterator.hpp>
#include <hipcub/thread/thread_operators.hpp>
#include <limits>

namespace hipcub {

struct DeviceReduce {
  template <class In, class Out, class Size, class Op, class T>
  static hipError_t Reduce(void*, size_t& bytes, In in, Out out, Size n, Op op, T init, hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          T sum = init;
          for (Size i = 0; i < n; ++i) sum = op(sum, in[i]);
          *out = sum;
        },
        stream);
  }
  // The identity is made on the host, from a number.
  template <class In, class Out, class Size>
  static hipError_t Sum(void* temp, size_t& bytes, In in, Out out, Size n, hipStream_t stream = 0) {
    using T = rocm3d_declared::value_t<In>;
    return Reduce(temp, bytes, in, out, n, ::hipcub::Sum(), T(0), stream);
  }
  template <class In, class Out, class Size>
  static hipError_t Min(void* temp, size_t& bytes, In in, Out out, Size n, hipStream_t stream = 0) {
    using T = rocm3d_declared::value_t<In>;
    return Reduce(temp, bytes, in, out, n, ::hipcub::Min(), std::numeric_limits<T>::max(), stream);
  }
  template <class In, class Out, class Size>
  static hipError_t Max(void* temp, size_t& bytes, In in, Out out, Size n, hipStream_t stream = 0) {
    using T = rocm3d_declared::value_t<In>;
    return Reduce(temp, bytes, in, out, n, ::hipcub::Max(), std::numeric_limits<T>::lowest(), stream);
  }
  template <class In, class Out, class Size>
  static hipError_t ArgMin(void* temp, size_t& bytes, In in, Out out, Size n, hipStream_t stream = 0) {
    using T = rocm3d_declared::value_t<In>;
    ArgIndexInputIterator<In, int> indexed(in);
    return Reduce(temp, bytes, indexed, out, n, ::hipcub::ArgMin(),
                  KeyValuePair<int, T>(1, std::numeric_limits<T>::max()), stream);
  }
  template <class In, class Out, class Size>
  static hipError_t ArgMax(void* temp, size_t& bytes, In in, Out out, Size n, hipStream_t stream = 0) {
    using T = rocm3d_declared::value_t<In>;
    ArgIndexInputIterator<In, int> indexed(in);
    return Reduce(temp, bytes, indexed, out, n, ::hipcub::ArgMax(),
                  KeyValuePair<int, T>(1, std::numeric_limits<T>::lowest()), stream);
  }
  template <class In, class Out, class Size, class Op, class Transform, class T>
  static hipError_t TransformReduce(void*, size_t& bytes, In in, Out out, Size n, Op op, Transform transform, T init,
                                    hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          T sum = init;
          for (Size i = 0; i < n; ++i) sum = op(sum, transform(in[i]));
          *out = sum;
        },
        stream);
  }
  template <class Keys, class KeysOut, class Values, class ValuesOut, class Count, class Op, class Size>
  static hipError_t ReduceByKey(void*, size_t& bytes, Keys keys, KeysOut unique, Values values, ValuesOut sums, Count count,
                                Op op, Size n, hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          rocm3d_declared::value_t<Values> sum = values[0];
          Size made = 0;
          for (Size i = 1; i < n; ++i) {
            if (keys[i] == keys[i - 1]) {
              sum = op(sum, values[i]);
            } else {
              unique[made] = keys[i];
              sums[made++] = sum;
            }
          }
          *count = made;
        },
        stream);
  }
};

}  // namespace hipcub
