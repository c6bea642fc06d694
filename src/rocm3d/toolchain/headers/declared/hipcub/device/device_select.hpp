#pragma once

#include <hipcub/thread/thread_operators.hpp>

namespace hipcub {

struct DeviceSelect {
  template <class In, class Flags, class Out, class Count, class Size>
  static hipError_t Flagged(void*, size_t& bytes, In in, Flags flags, Out out, Count count, Size n, hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          Size made = 0;
          for (Size i = 0; i < n; ++i) {
            if (flags[i]) out[made++] = in[i];
          }
          *count = made;
        },
        stream);
  }
  template <class In, class Flags, class Count, class Size, class = std::enable_if_t<std::is_integral_v<Size>>>
  static hipError_t Flagged(void* temp, size_t& bytes, In data, Flags flags, Count count, Size n, hipStream_t stream = 0) {
    return Flagged(temp, bytes, data, flags, data, count, n, stream);
  }
  template <class In, class Out, class Count, class Size, class Predicate>
  static hipError_t If(void*, size_t& bytes, In in, Out out, Count count, Size n, Predicate predicate,
                       hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          Size made = 0;
          for (Size i = 0; i < n; ++i) {
            if (predicate(in[i])) out[made++] = in[i];
          }
          *count = made;
        },
        stream);
  }
  template <class In, class Count, class Size, class Predicate, class = std::enable_if_t<std::is_integral_v<Size>>>
  static hipError_t If(void* temp, size_t& bytes, In data, Count count, Size n, Predicate predicate, hipStream_t stream = 0) {
    return If(temp, bytes, data, data, count, n, predicate, stream);
  }
  template <class In, class Flags, class Out, class Count, class Size, class Predicate>
  static hipError_t FlaggedIf(void*, size_t& bytes, In in, Flags flags, Out out, Count count, Size n, Predicate predicate,
                              hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          Size made = 0;
          for (Size i = 0; i < n; ++i) {
            if (predicate(flags[i])) out[made++] = in[i];
          }
          *count = made;
        },
        stream);
  }
  template <class In, class Out, class Count, class Size>
  static hipError_t Unique(void*, size_t& bytes, In in, Out out, Count count, Size n, hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          Size made = 0;
          for (Size i = 0; i < n; ++i) {
            if (i == 0 || !(in[i] == in[i - 1])) out[made++] = in[i];
          }
          *count = made;
        },
        stream);
  }
  template <class Keys, class Values, class KeysOut, class ValuesOut, class Count, class Size, class Equal = ::hipcub::Equality>
  static hipError_t UniqueByKey(void*, size_t& bytes, Keys keys, Values values, KeysOut keys_out, ValuesOut values_out,
                                Count count, Size n, Equal equal = Equal(), hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          Size made = 0;
          for (Size i = 0; i < n; ++i) {
            if (i == 0 || !equal(keys[i - 1], keys[i])) {
              keys_out[made] = keys[i];
              values_out[made++] = values[i];
            }
          }
          *count = made;
        },
        stream);
  }
};

struct DevicePartition {
  template <class In, class Flags, class Out, class Count, class Size>
  static hipError_t Flagged(void* temp, size_t& bytes, In in, Flags flags, Out out, Count count, Size n,
                            hipStream_t stream = 0) {
    return DeviceSelect::Flagged(temp, bytes, in, flags, out, count, n, stream);
  }
  template <class In, class Out, class Count, class Size, class Predicate>
  static hipError_t If(void* temp, size_t& bytes, In in, Out out, Count count, Size n, Predicate predicate,
                       hipStream_t stream = 0) {
    return DeviceSelect::If(temp, bytes, in, out, count, n, predicate, stream);
  }
};

}  // namespace hipcub
