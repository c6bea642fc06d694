#pragma once

#include <rocprim/functional.hpp>

namespace rocprim {

template <class T, unsigned int width = 64, bool all = false>
class warp_reduce {
 public:
  struct storage_type {
    alignas(T) unsigned char parts[sizeof(T) * width];
  };
  template <class Op = plus<T>>
  __device__ void reduce(T input, T& output, storage_type& storage, Op op = Op()) {
    reduce(input, output, static_cast<int>(width), storage, op);
  }
  template <class Op = plus<T>>
  __device__ void reduce(T input, T& output, int valid, storage_type& storage, Op op = Op()) {
    T* parts = reinterpret_cast<T*>(storage.parts);
    parts[threadIdx.x % width] = input;
    output = parts[0];
    for (int i = 1; i < valid; ++i) output = op(output, parts[i]);
  }
};

}  // namespace rocprim
