#pragma once

#include <hipcub/thread/thread_operators.hpp>

namespace hipcub {

template <class T, int width = 64, int arch = 1>
class WarpReduce {
 public:
  struct TempStorage {
    alignas(T) unsigned char parts[sizeof(T) * width];
  };
  __device__ explicit WarpReduce(TempStorage& temp) : parts_(reinterpret_cast<T*>(temp.parts)) {}
  template <class Op>
  __device__ T Reduce(T input, Op op, int valid = width) {
    parts_[threadIdx.x % width] = input;
    T sum = parts_[0];
    for (int i = 1; i < valid; ++i) sum = op(sum, parts_[i]);
    return sum;
  }
  __device__ T Sum(T input, int valid = width) { return Reduce(input, ::hipcub::Sum(), valid); }
  template <class Flag, class Op>
  __device__ T HeadSegmentedReduce(T input, Flag, Op op) {
    return Reduce(input, op);
  }
  template <class Flag, class Op>
  __device__ T TailSegmentedReduce(T input, Flag, Op op) {
    return Reduce(input, op);
  }
  template <class Flag>
  __device__ T HeadSegmentedSum(T input, Flag) {
    return Sum(input);
  }
  template <class Flag>
  __device__ T TailSegmentedSum(T input, Flag) {
    return Sum(input);
  }

 private:
  T* parts_;
};

}  // namespace hipcub
