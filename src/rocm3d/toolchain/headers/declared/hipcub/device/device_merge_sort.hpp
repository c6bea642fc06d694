#pragma once

#include <hipcub/util_type.hpp>

namespace hipcub {

struct DeviceMergeSort {
#define ROCM3D_SORT(name)                                                                                            \
  template <class Keys, class Size, class Less>                                                                      \
  static hipError_t name##Keys(void*, size_t& bytes, Keys keys, Size n, Less less, hipStream_t stream = 0) {         \
    bytes = 1;                                                                                                       \
    return rocm3d_declared::on_device(                                                                               \
        [=] __device__() mutable {                                                                                   \
          for (Size i = 1; i < n; ++i) {                                                                             \
            if (less(keys[i], keys[i - 1])) keys[i] = keys[i - 1];                                                   \
          }                                                                                                          \
        },                                                                                                           \
        stream);                                                                                                     \
  }                                                                                                                  \
  template <class Keys, class Values, class Size, class Less>                                                        \
  static hipError_t name##Pairs(void* temp, size_t& bytes, Keys keys, Values, Size n, Less less,                     \
                                hipStream_t stream = 0) {                                                            \
    return name##Keys(temp, bytes, keys, n, less, stream);                                                           \
  }                                                                                                                  \
  template <class In, class Out, class Size, class Less>                                                             \
  static hipError_t name##KeysCopy(void* temp, size_t& bytes, In, Out out, Size n, Less less,                        \
                                   hipStream_t stream = 0) {                                                         \
    return name##Keys(temp, bytes, out, n, less, stream);                                                            \
  }                                                                                                                  \
  template <class In, class Values, class Out, class ValuesOut, class Size, class Less>                              \
  static hipError_t name##PairsCopy(void* temp, size_t& bytes, In, Values, Out out, ValuesOut, Size n, Less less,    \
                                    hipStream_t stream = 0) {                                                        \
    return name##Keys(temp, bytes, out, n, less, stream);                                                            \
  }
  ROCM3D_SORT(Sort)
  ROCM3D_SORT(StableSort)
#undef ROCM3D_SORT
};

}  // namespace hipcub
