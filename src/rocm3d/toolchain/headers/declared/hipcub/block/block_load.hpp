#pragma once

#include <hipcub/iterator/iterators.hpp>

namespace hipcub {

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <class T, int x, int items, BlockLoadAlgorithm algorithm = BLOCK_LOAD_DIRECT, int y = 1, int z = 1, int arch = 1>
class BlockLoad {
 public:
  struct TempStorage {
    alignas(T) unsigned char parts[algorithm < BLOCK_LOAD_TRANSPOSE ? 1 : sizeof(T) * x * items];
  };
  __device__ BlockLoad() {}
  __device__ explicit BlockLoad(TempStorage&) {}
  template <class In>
  __device__ void Load(In in, T (&values)[items]) {
    for (int i = 0; i < items; ++i) values[i] = in[threadIdx.x * items + i];
  }
  template <class In>
  __device__ void Load(In in, T (&values)[items], int valid) {
    for (int i = 0; i < items; ++i) {
      if (static_cast<int>(threadIdx.x) * items + i < valid) values[i] = in[threadIdx.x * items + i];
    }
  }
  template <class In, class Default>
  __device__ void Load(In in, T (&values)[items], int valid, Default other) {
    for (int i = 0; i < items; ++i) values[i] = other;
    Load(in, values, valid);
  }
};

template <class T, int x, int items, BlockStoreAlgorithm algorithm = BLOCK_STORE_DIRECT, int y = 1, int z = 1, int arch = 1>
class BlockStore {
 public:
  struct TempStorage {
    alignas(T) unsigned char parts[algorithm < BLOCK_STORE_TRANSPOSE ? 1 : sizeof(T) * x * items];
  };
  __device__ BlockStore() {}
  __device__ explicit BlockStore(TempStorage&) {}
  template <class Out>
  __device__ void Store(Out out, T (&values)[items]) {
    for (int i = 0; i < items; ++i) out[threadIdx.x * items + i] = values[i];
  }
  template <class Out>
  __device__ void Store(Out out, T (&values)[items], int valid) {
    for (int i = 0; i < items; ++i) {
      if (static_cast<int>(threadIdx.x) * items + i < valid) out[threadIdx.x * items + i] = values[i];
    }
  }
};

template <class T, int items, class In>
__device__ inline void LoadDirectBlocked(int thread, In in, T (&values)[items]) {
  for (int i = 0; i < items; ++i) values[i] = in[thread * items + i];
}
template <class T, int items, class Out>
__device__ inline void StoreDirectBlocked(int thread, Out out, T (&values)[items]) {
  for (int i = 0; i < items; ++i) out[thread * items + i] = values[i];
}

}  // namespace hipcub
