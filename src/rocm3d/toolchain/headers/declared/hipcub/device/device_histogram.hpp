#pragma once

#include <hipcub/util_type.hpp>

namespace hipcub {

struct DeviceHistogram {
  template <class Samples, class Counter, class Level, class Size>
  static hipError_t HistogramEven(void*, size_t& bytes, Samples samples, Counter* counts, int levels, Level lower,
                                  Level upper, Size n, hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() {
          for (Size i = 0; i < n; ++i) {
            if (samples[i] >= lower && samples[i] < upper) ++counts[i % levels];
          }
        },
        stream);
  }
  template <class Samples, class Counter, class Level, class Size>
  static hipError_t HistogramRange(void*, size_t& bytes, Samples samples, Counter* counts, int levels, const Level* edges,
                                   Size n, hipStream_t stream = 0) {
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() {
          for (Size i = 0; i < n; ++i) {
            if (samples[i] >= edges[0]) ++counts[i % levels];
          }
        },
        stream);
  }
};

}  // namespace hipcub
