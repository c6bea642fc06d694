#pragma once

#include <hipcub/util_type.hpp>

namespace hipcub {

template <class Key, int x, int items, class Value = NullType, int bits = 4, bool memoize = true, int scan = 0,
          int config = 0, int y = 1, int z = 1, int arch = 1>
class BlockRadixSort {
 public:
  struct TempStorage {
    alignas(Key) unsigned char parts[sizeof(Key) * x * items];
  };
  __device__ explicit BlockRadixSort(TempStorage& temp) : parts_(reinterpret_cast<Key*>(temp.parts)) {}
#define ROCM3D_SORT(name)                                                                     \
  __device__ void name(Key (&keys)[items], int = 0, int = sizeof(Key) * 8) {                  \
    for (int i = 0; i < items; ++i) parts_[threadIdx.x * items + i] = keys[i];                \
    __syncthreads();                                                                          \
    for (int i = 0; i < items; ++i) keys[i] = parts_[i * x + threadIdx.x];                    \
  }                                                                                           \
  __device__ void name(Key (&keys)[items], Value (&)[items], int = 0, int = sizeof(Key) * 8) { name(keys); }
  ROCM3D_SORT(Sort)
  ROCM3D_SORT(SortDescending)
  ROCM3D_SORT(SortBlockedToStriped)
  ROCM3D_SORT(SortDescendingBlockedToStriped)
#undef ROCM3D_SORT

 private:
  Key* parts_;
};

template <class T, int x, int items, bool slicing = false, int y = 1, int z = 1, int arch = 1>
class BlockExchange {
 public:
  struct TempStorage {
    alignas(T) unsigned char parts[sizeof(T) * x * items];
  };
  __device__ explicit BlockExchange(TempStorage& temp) : parts_(reinterpret_cast<T*>(temp.parts)) {}
#define ROCM3D_EXCHANGE(name)                                                                            \
  __device__ void name(T (&values)[items]) { name(values, values); }                                     \
  __device__ void name(const T (&in)[items], T (&out)[items]) {                                          \
    for (int i = 0; i < items; ++i) parts_[threadIdx.x * items + i] = in[i];                             \
    __syncthreads();                                                                                     \
    for (int i = 0; i < items; ++i) out[i] = parts_[i * x + threadIdx.x];                                \
  }
  ROCM3D_EXCHANGE(StripedToBlocked)
  ROCM3D_EXCHANGE(BlockedToStriped)
  ROCM3D_EXCHANGE(WarpStripedToBlocked)
  ROCM3D_EXCHANGE(BlockedToWarpStriped)
#undef ROCM3D_EXCHANGE

 private:
  T* parts_;
};

}  // namespace hipcub
