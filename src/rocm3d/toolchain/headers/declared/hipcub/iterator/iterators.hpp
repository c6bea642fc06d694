#pragma once

#include <hipcub/util_type.hpp>

namespace hipcub {

namespace detail {

template <class Derived, class Value, class Reference>
struct iterator_core {
  using self_type = Derived;
  using value_type = Value;
  using reference = Reference;
  using pointer = Value*;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;

  __host__ __device__ const Derived& self() const { return static_cast<const Derived&>(*this); }
  __host__ __device__ Derived& self() { return static_cast<Derived&>(*this); }
  __host__ __device__ Reference operator*() const { return self().at(0); }
  template <class Distance>
  __host__ __device__ Reference operator[](Distance n) const {
    return self().at(static_cast<std::ptrdiff_t>(n));
  }
  template <class Distance>
  __host__ __device__ Derived operator+(Distance n) const {
    Derived moved = self();
    moved.move(static_cast<std::ptrdiff_t>(n));
    return moved;
  }
  template <class Distance>
  __host__ __device__ Derived& operator+=(Distance n) {
    self().move(static_cast<std::ptrdiff_t>(n));
    return self();
  }
  __host__ __device__ Derived& operator++() {
    self().move(1);
    return self();
  }
  __host__ __device__ Derived operator++(int) {
    Derived was = self();
    self().move(1);
    return was;
  }
};

}  // namespace detail

template <class Value, class Function, class Iterator, class Offset = std::ptrdiff_t>
class TransformInputIterator
    : public detail::iterator_core<TransformInputIterator<Value, Function, Iterator, Offset>, Value, Value> {
 public:
  __host__ __device__ TransformInputIterator(Iterator base, Function function) : base_(base), function_(function) {}
  __host__ __device__ Value at(std::ptrdiff_t n) const { return function_(base_[n]); }
  __host__ __device__ void move(std::ptrdiff_t n) { base_ = base_ + n; }

 private:
  Iterator base_;
  Function function_;
};

template <class Value, class Offset = std::ptrdiff_t>
class CountingInputIterator : public detail::iterator_core<CountingInputIterator<Value, Offset>, Value, Value> {
 public:
  __host__ __device__ explicit CountingInputIterator(const Value& value) : value_(value) {}
  __host__ __device__ Value at(std::ptrdiff_t n) const { return value_ + static_cast<Value>(n); }
  __host__ __device__ void move(std::ptrdiff_t n) { value_ += static_cast<Value>(n); }

 private:
  Value value_;
};

template <class Value, class Offset = std::ptrdiff_t>
class ConstantInputIterator : public detail::iterator_core<ConstantInputIterator<Value, Offset>, Value, Value> {
 public:
  __host__ __device__ explicit ConstantInputIterator(Value value, Offset = 0) : value_(value) {}
  __host__ __device__ Value at(std::ptrdiff_t) const { return value_; }
  __host__ __device__ void move(std::ptrdiff_t) {}

 private:
  Value value_;
};

template <class Iterator, class Offset = std::ptrdiff_t, class Value = rocm3d_declared::value_t<Iterator>>
class ArgIndexInputIterator : public detail::iterator_core<ArgIndexInputIterator<Iterator, Offset, Value>,
                                                           KeyValuePair<Offset, Value>, KeyValuePair<Offset, Value>> {
 public:
  __host__ __device__ explicit ArgIndexInputIterator(Iterator base, std::ptrdiff_t offset = 0) : base_(base), offset_(offset) {}
  __host__ __device__ KeyValuePair<Offset, Value> at(std::ptrdiff_t n) const {
    return KeyValuePair<Offset, Value>(static_cast<Offset>(offset_ + n), base_[offset_ + n]);
  }
  __host__ __device__ void move(std::ptrdiff_t n) { offset_ += n; }

 private:
  Iterator base_;
  std::ptrdiff_t offset_;
};

template <class Offset = std::ptrdiff_t>
class DiscardOutputIterator : public detail::iterator_core<DiscardOutputIterator<Offset>, void*, NullType> {
 public:
  __host__ __device__ explicit DiscardOutputIterator(Offset = 0) {}
  __host__ __device__ NullType at(std::ptrdiff_t) const { return NullType(); }
  __host__ __device__ void move(std::ptrdiff_t) {}
};

enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_NC, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };

template <CacheLoadModifier modifier, class Value, class Offset = std::ptrdiff_t>
class CacheModifiedInputIterator
    : public detail::iterator_core<CacheModifiedInputIterator<modifier, Value, Offset>, Value, Value> {
 public:
  __host__ __device__ explicit CacheModifiedInputIterator(Value* base) : base_(base) {}
  __host__ __device__ Value at(std::ptrdiff_t n) const { return base_[n]; }
  __host__ __device__ void move(std::ptrdiff_t n) { base_ += n; }

 private:
  Value* base_;
};

template <CacheLoadModifier modifier, class Iterator>
__device__ inline auto ThreadLoad(Iterator place) {
  return *place;
}
template <CacheStoreModifier modifier, class Iterator, class T>
__device__ inline void ThreadStore(Iterator place, T value) {
  *place = value;
}

}  // namespace hipcub
