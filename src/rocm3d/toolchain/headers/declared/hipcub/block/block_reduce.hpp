#pragma once

#include <hipcub/thread/thread_operators.hpp>

namespace hipcub {

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };

template <class T, int x, BlockReduceAlgorithm algorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int y = 1, int z = 1, int arch = 1>
class BlockReduce {
 public:
  struct TempStorage {
    alignas(T) unsigned char parts[sizeof(T) * x * y * z];
  };
  __device__ explicit BlockReduce(TempStorage& temp) : parts_(reinterpret_cast<T*>(temp.parts)) {}

  template <class Op>
  __device__ T Reduce(T input, Op op) {
    return Reduce(input, op, x * y * z);
  }
  template <class Op>
  __device__ T Reduce(T input, Op op, int valid) {
    parts_[threadIdx.x] = input;
    __syncthreads();
    T sum = parts_[0];
    for (int i = 1; i < valid; ++i) sum = op(sum, parts_[i]);
    return sum;
  }
  template <int items, class Op>
  __device__ T Reduce(T (&inputs)[items], Op op) {
    T sum = inputs[0];
    for (int i = 1; i < items; ++i) sum = op(sum, inputs[i]);
    return Reduce(sum, op);
  }
  __device__ T Sum(T input) { return Reduce(input, ::hipcub::Sum()); }
  __device__ T Sum(T input, int valid) { return Reduce(input, ::hipcub::Sum(), valid); }
  template <int items>
  __device__ T Sum(T (&inputs)[items]) {
    return Reduce(inputs, ::hipcub::Sum());
  }

 private:
  T* parts_;
};

}  // namespace hipcub
