#pragma once

#include <hipcub/util_type.hpp>

namespace hipcub {

#define ROCM3D_SORT_KEYS(name)                                                                                       \
  template <class Key, class Begin, class End, class... Bits>                                                        \
  static hipError_t name(void*, size_t& bytes, const Key* in, Key* out, long long n, int segments, Begin begin,      \
                         End end, Bits...) {                                                                         \
    bytes = 1;                                                                                                       \
    return rocm3d_declared::on_device([=] __device__() {                                                             \
      for (int s = 0; s < segments; ++s) {                                                                           \
        for (auto i = begin[s]; i < end[s] && i < n; ++i) out[i] = in[i];                                            \
      }                                                                                                              \
    });                                                                                                              \
  }                                                                                                                  \
  template <class Key, class Begin, class End, class... Bits>                                                        \
  static hipError_t name(void* temp, size_t& bytes, DoubleBuffer<Key>& keys, long long n, int segments, Begin begin, \
                         End end, Bits... bits) {                                                                    \
    return name(temp, bytes, keys.Current(), keys.Alternate(), n, segments, begin, end, bits...);                    \
  }
#define ROCM3D_SORT_PAIRS(name)                                                                                      \
  template <class Key, class Value, class Begin, class End, class... Bits>                                           \
  static hipError_t name(void*, size_t& bytes, const Key* in, Key* out, const Value* values, Value* values_out,      \
                         long long n, int segments, Begin begin, End end, Bits...) {                                 \
    bytes = 1;                                                                                                       \
    return rocm3d_declared::on_device([=] __device__() {                                                             \
      for (int s = 0; s < segments; ++s) {                                                                           \
        for (auto i = begin[s]; i < end[s] && i < n; ++i) {                                                          \
          out[i] = in[i];                                                                                            \
          values_out[i] = values[i];                                                                                 \
        }                                                                                                            \
      }                                                                                                              \
    });                                                                                                              \
  }                                                                                                                  \
  template <class Key, class Value, class Begin, class End, class... Bits>                                           \
  static hipError_t name(void* temp, size_t& bytes, DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values,            \
                         long long n, int segments, Begin begin, End end, Bits... bits) {                            \
    return name(temp, bytes, keys.Current(), keys.Alternate(), values.Current(), values.Alternate(), n, segments,    \
                begin, end, bits...);                                                                                \
  }

struct DeviceSegmentedRadixSort {
  ROCM3D_SORT_KEYS(SortKeys)
  ROCM3D_SORT_KEYS(SortKeysDescending)
  ROCM3D_SORT_PAIRS(SortPairs)
  ROCM3D_SORT_PAIRS(SortPairsDescending)
};
struct DeviceSegmentedSort {
  ROCM3D_SORT_KEYS(SortKeys)
  ROCM3D_SORT_KEYS(SortKeysDescending)
  ROCM3D_SORT_KEYS(StableSortKeys)
  ROCM3D_SORT_KEYS(StableSortKeysDescending)
  ROCM3D_SORT_PAIRS(SortPairs)
  ROCM3D_SORT_PAIRS(SortPairsDescending)
  ROCM3D_SORT_PAIRS(StableSortPairs)
  ROCM3D_SORT_PAIRS(StableSortPairsDescending)
};
#undef ROCM3D_SORT_KEYS
#undef ROCM3D_SORT_PAIRS

}  // namespace hipcub
