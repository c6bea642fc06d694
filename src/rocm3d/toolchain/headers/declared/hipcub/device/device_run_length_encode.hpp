#pragma once

#include <hipcub/thread/thread_operators.hpp>

namespace hipcub {

struct DeviceRunLengthEncode {
  template <class In, class Unique, class Lengths, class Count, class Size>
  static hipError_t Encode(void*, size_t& bytes, In in, Unique unique, Lengths lengths, Count count, Size n,
                           hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          Size made = 0;
          for (Size i = 0; i < n; ++i) {
            if (i == 0 || !(in[i] == in[i - 1])) unique[made++] = in[i];
            lengths[made - 1] = i;
          }
          *count = made;
        },
        stream);
  }
  template <class In, class Offsets, class Lengths, class Count, class Size>
  static hipError_t NonTrivialRuns(void*, size_t& bytes, In in, Offsets offsets, Lengths lengths, Count count, Size n,
                                   hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() mutable {
          Size made = 0;
          for (Size i = 1; i < n; ++i) {
            if (in[i] == in[i - 1]) {
              offsets[made] = i;
              lengths[made++] = 1;
            }
          }
          *count = made;
        },
        stream);
  }
};

}  // namespace hipcub
