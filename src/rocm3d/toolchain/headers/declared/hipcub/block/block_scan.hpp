#pragma once

#include <hipcub/thread/thread_operators.hpp>

namespace hipcub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int x, BlockScanAlgorithm algorithm = BLOCK_SCAN_RAKING, int y = 1, int z = 1, int arch = 1>
class BlockScan {
 public:
  struct TempStorage {
    alignas(T) unsigned char parts[sizeof(T) * x * y * z];
  };
  __device__ explicit BlockScan(TempStorage& temp) : parts_(reinterpret_cast<T*>(temp.parts)) {}

  template <class Op>
  __device__ void InclusiveScan(T input, T& output, Op op, T& total) {
    parts_[threadIdx.x] = input;
    __syncthreads();
    output = parts_[0];
    for (unsigned i = 1; i <= threadIdx.x; ++i) output = op(output, parts_[i]);
    total = parts_[0];
    for (int i = 1; i < x * y * z; ++i) total = op(total, parts_[i]);
  }
  template <class Op>
  __device__ void InclusiveScan(T input, T& output, Op op) {
    T total;
    InclusiveScan(input, output, op, total);
  }
  template <class Op>
  __device__ void ExclusiveScan(T input, T& output, T init, Op op, T& total) {
    InclusiveScan(input, output, op, total);
    output = op(init, output);
  }
  template <class Op>
  __device__ void ExclusiveScan(T input, T& output, T init, Op op) {
    T total;
    ExclusiveScan(input, output, init, op, total);
  }
  template <class Op>
  __device__ void ExclusiveScan(T input, T& output, Op op) {
    InclusiveScan(input, output, op);
  }
  __device__ void InclusiveSum(T input, T& output) { InclusiveScan(input, output, ::hipcub::Sum()); }
  __device__ void InclusiveSum(T input, T& output, T& total) { InclusiveScan(input, output, ::hipcub::Sum(), total); }
  __device__ void ExclusiveSum(T input, T& output) { ExclusiveScan(input, output, T(0), ::hipcub::Sum()); }
  __device__ void ExclusiveSum(T input, T& output, T& total) { ExclusiveScan(input, output, T(0), ::hipcub::Sum(), total); }
  template <class Prefix>
  __device__ void ExclusiveSumWith(T input, T& output, Prefix& prefix) {
    T total;
    ExclusiveSum(input, output, total);
    output = output + prefix(total);
  }
  template <int items>
  __device__ void InclusiveSum(T (&input)[items], T (&output)[items]) {
    for (int i = 0; i < items; ++i) InclusiveSum(input[i], output[i]);
  }
  template <int items>
  __device__ void InclusiveSum(T (&input)[items], T (&output)[items], T& total) {
    for (int i = 0; i < items; ++i) InclusiveSum(input[i], output[i], total);
  }
  template <int items>
  __device__ void ExclusiveSum(T (&input)[items], T (&output)[items]) {
    for (int i = 0; i < items; ++i) ExclusiveSum(input[i], output[i]);
  }
  template <int items>
  __device__ void ExclusiveSum(T (&input)[items], T (&output)[items], T& total) {
    for (int i = 0; i < items; ++i) ExclusiveSum(input[i], output[i], total);
  }
  template <int items, class Op>
  __device__ void InclusiveScan(T (&input)[items], T (&output)[items], Op op) {
    for (int i = 0; i < items; ++i) InclusiveScan(input[i], output[i], op);
  }
  template <int items, class Op>
  __device__ void ExclusiveScan(T (&input)[items], T (&output)[items], T init, Op op) {
    for (int i = 0; i < items; ++i) ExclusiveScan(input[i], output[i], init, op);
  }
  template <int items, class Op, class Prefix>
  __device__ void InclusiveScan(T (&input)[items], T (&output)[items], Op op, Prefix& prefix) {
    T total;
    for (int i = 0; i < items; ++i) InclusiveScan(input[i], output[i], op, total);
    output[0] = op(prefix(total), output[0]);
  }

 private:
  T* parts_;
};

}  // namespace hipcub
