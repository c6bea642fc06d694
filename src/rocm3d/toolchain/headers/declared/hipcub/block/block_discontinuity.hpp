#pragma once

#include <hipcub/thread/thread_operators.hpp>

namespace hipcub {

template <class T, int x, int y = 1, int z = 1, int arch = 1>
class BlockDiscontinuity {
 public:
  struct TempStorage {
    alignas(T) unsigned char parts[sizeof(T) * x * y * z];
  };
  __device__ explicit BlockDiscontinuity(TempStorage& temp) : parts_(reinterpret_cast<T*>(temp.parts)) {}
  template <int items, class Flag, class Op>
  __device__ void FlagHeads(Flag (&heads)[items], T (&values)[items], Op op) {
    parts_[threadIdx.x] = values[items - 1];
    __syncthreads();
    for (int i = 1; i < items; ++i) heads[i] = op(values[i - 1], values[i]);
    heads[0] = threadIdx.x == 0 || op(parts_[threadIdx.x - 1], values[0]);
  }
  template <int items, class Flag, class Op>
  __device__ void FlagTails(Flag (&tails)[items], T (&values)[items], Op op) {
    FlagHeads(tails, values, op);
  }

 private:
  T* parts_;
};

}  // namespace hipcub
