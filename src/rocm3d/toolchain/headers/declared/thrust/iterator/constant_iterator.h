#pragma once

#include <thrust/iterator/iterator_traits.h>

namespace thrust {

template <class Value, class Incrementable = use_default, class System = use_default>
class constant_iterator
    : public detail::iterator_core<constant_iterator<Value, Incrementable, System>, Value, Value, any_system_tag> {
 public:
  __host__ __device__ constexpr constant_iterator() : value_(), index_(0) {}
  template <class V, class I = std::ptrdiff_t>
  __host__ __device__ constexpr constant_iterator(V const& value, I const& index = 0) : value_(value), index_(index) {}
  __host__ __device__ constexpr Value at(std::ptrdiff_t) const { return value_; }
  __host__ __device__ constexpr constant_iterator moved(std::ptrdiff_t n) const {
    return constant_iterator(value_, index_ + n);
  }
  __host__ __device__ constexpr std::ptrdiff_t distance_from(const constant_iterator& other) const {
    return index_ - other.index_;
  }

 private:
  Value value_;
  std::ptrdiff_t index_;
};

template <class Value, class Index = std::ptrdiff_t>
__host__ __device__ constexpr constant_iterator<Value> make_constant_iterator(Value value, Index index = 0) {
  return constant_iterator<Value>(value, index);
}

}  // namespace thrust
