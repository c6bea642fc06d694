#pragma once

#include <hipcub/thread/thread_operators.hpp>

namespace hipcub {

template <class T, int width = 64, int arch = 1>
class WarpScan {
 public:
  struct TempStorage {
    alignas(T) unsigned char parts[sizeof(T) * width];
  };
  __device__ explicit WarpScan(TempStorage& temp) : parts_(reinterpret_cast<T*>(temp.parts)) {}
  template <class Op>
  __device__ void InclusiveScan(T input, T& output, Op op) {
    parts_[threadIdx.x % width] = input;
    output = parts_[0];
    for (unsigned i = 1; i <= threadIdx.x % width; ++i) output = op(output, parts_[i]);
  }
  template <class Op>
  __device__ void ExclusiveScan(T input, T& output, T init, Op op) {
    InclusiveScan(input, output, op);
    output = op(init, output);
  }
  __device__ void InclusiveSum(T input, T& output) { InclusiveScan(input, output, ::hipcub::Sum()); }
  __device__ void InclusiveSum(T input, T& output, T& total) {
    InclusiveScan(input, output, ::hipcub::Sum());
    total = output;
  }
  __device__ void ExclusiveSum(T input, T& output) { ExclusiveScan(input, output, T(0), ::hipcub::Sum()); }
  __device__ T Broadcast(T input, unsigned) { return input; }

 private:
  T* parts_;
};

}  // namespace hipcub
