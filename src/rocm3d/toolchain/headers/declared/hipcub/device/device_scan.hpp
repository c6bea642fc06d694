#pragma once

#include <hipcub/thread/thread_operators.hpp>

namespace hipcub {

struct DeviceScan {
  template <class In, class Out, class Op, class T, class Size>
  static hipError_t ExclusiveScan(void*, size_t& bytes, In in, Out out, Op op, T init, Size n, hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          T sum = init;
          for (Size i = 0; i < n; ++i) {
            T next = op(sum, in[i]);
            out[i] = sum;
            sum = next;
          }
        },
        stream);
  }
  template <class In, class Out, class Op, class T, class Size>
  static hipError_t ExclusiveScan(void*, size_t& bytes, In in, Out out, Op op, FutureValue<T> init, Size n,
                                  hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          T sum = *init.pointer;
          for (Size i = 0; i < n; ++i) {
            out[i] = sum;
            sum = op(sum, in[i]);
          }
        },
        stream);
  }
  template <class In, class Op, class T, class Size>
  static hipError_t ExclusiveScan(void* temp, size_t& bytes, In data, Op op, T init, Size n, hipStream_t stream = 0) {
    return ExclusiveScan(temp, bytes, data, data, op, init, n, stream);
  }
  // The identity is made on the host, from a number.
  template <class In, class Out, class Size, class = typename std::iterator_traits<Out>::value_type>
  static hipError_t ExclusiveSum(void* temp, size_t& bytes, In in, Out out, Size n, hipStream_t stream = 0) {
    using T = rocm3d_declared::value_t<In>;
    return ExclusiveScan(temp, bytes, in, out, ::hipcub::Sum(), T(0), n, stream);
  }
  template <class In, class Size, class = std::enable_if_t<std::is_integral_v<Size>>>
  static hipError_t ExclusiveSum(void* temp, size_t& bytes, In data, Size n, hipStream_t stream = 0) {
    using T = rocm3d_declared::value_t<In>;
    return ExclusiveScan(temp, bytes, data, data, ::hipcub::Sum(), T(0), n, stream);
  }
  // rocPRIM makes an empty value of the sum's type on the host.
  template <class In, class Out, class Op, class Size, class = typename std::iterator_traits<Out>::value_type>
  static hipError_t InclusiveScan(void*, size_t& bytes, In in, Out out, Op op, Size n, hipStream_t stream = 0) {
    bytes = 1;
    using T = rocm3d_declared::value_t<In>;
    const T empty = T();
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          T sum = empty;
          for (Size i = 0; i < n; ++i) {
            sum = i == 0 ? static_cast<T>(in[i]) : static_cast<T>(op(sum, in[i]));
            out[i] = sum;
          }
        },
        stream);
  }
  template <class In, class Op, class Size, class = std::enable_if_t<std::is_integral_v<Size>>>
  static hipError_t InclusiveScan(void* temp, size_t& bytes, In data, Op op, Size n, hipStream_t stream = 0) {
    return InclusiveScan(temp, bytes, data, data, op, n, stream);
  }
  template <class In, class Out, class Op, class T, class Size>
  static hipError_t InclusiveScanInit(void* temp, size_t& bytes, In in, Out out, Op op, T init, Size n,
                                      hipStream_t stream = 0) {
    return ExclusiveScan(temp, bytes, in, out, op, init, n, stream);
  }
  template <class In, class Out, class Size, class = typename std::iterator_traits<Out>::value_type>
  static hipError_t InclusiveSum(void* temp, size_t& bytes, In in, Out out, Size n, hipStream_t stream = 0) {
    return InclusiveScan(temp, bytes, in, out, ::hipcub::Sum(), n, stream);
  }
  template <class In, class Size, class = std::enable_if_t<std::is_integral_v<Size>>>
  static hipError_t InclusiveSum(void* temp, size_t& bytes, In data, Size n, hipStream_t stream = 0) {
    return InclusiveScan(temp, bytes, data, data, ::hipcub::Sum(), n, stream);
  }
  template <class Keys, class In, class Out, class Op, class T, class Size = int, class Equal = ::hipcub::Equality>
  static hipError_t ExclusiveScanByKey(void*, size_t& bytes, Keys keys, In in, Out out, Op op, T init, Size n,
                                       Equal equal = Equal(), hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          T sum = init;
          for (Size i = 0; i < n; ++i) {
            if (i > 0 && !equal(keys[i - 1], keys[i])) sum = init;
            out[i] = sum;
            sum = op(sum, in[i]);
          }
        },
        stream);
  }
  template <class Keys, class In, class Out, class Op, class Size = int, class Equal = ::hipcub::Equality>
  static hipError_t InclusiveScanByKey(void*, size_t& bytes, Keys keys, In in, Out out, Op op, Size n,
                                       Equal equal = Equal(), hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          rocm3d_declared::value_t<In> sum = in[0];
          for (Size i = 0; i < n; ++i) {
            if (i > 0 && equal(keys[i - 1], keys[i])) {
              sum = op(sum, in[i]);
            } else {
              sum = in[i];
            }
            out[i] = sum;
          }
        },
        stream);
  }
  template <class Keys, class In, class Out, class Size = int, class Equal = ::hipcub::Equality>
  static hipError_t ExclusiveSumByKey(void* temp, size_t& bytes, Keys keys, In in, Out out, Size n, Equal equal = Equal(),
                                      hipStream_t stream = 0) {
    using T = rocm3d_declared::value_t<In>;
    return ExclusiveScanByKey(temp, bytes, keys, in, out, ::hipcub::Sum(), T(0), n, equal, stream);
  }
  template <class Keys, class In, class Out, class Size = int, class Equal = ::hipcub::Equality>
  static hipError_t InclusiveSumByKey(void* temp, size_t& bytes, Keys keys, In in, Out out, Size n, Equal equal = Equal(),
                                      hipStream_t stream = 0) {
    return InclusiveScanByKey(temp, bytes, keys, in, out, ::hipcub::Sum(), n, equal, stream);
  }
};

}  // namespace hipcub
