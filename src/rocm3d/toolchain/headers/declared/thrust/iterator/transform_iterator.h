#pragma once

#include <thrust/iterator/iterator_traits.h>

namespace thrust {

namespace detail {
template <class Function, class Iterator>
using applied_t = rocm3d_declared::called_t<const Function&, reference_t<Iterator>>;
}

template <class Function, class Iterator, class Reference = use_default, class Value = use_default>
class transform_iterator
    : public detail::iterator_core<
          transform_iterator<Function, Iterator, Reference, Value>,
          std::conditional_t<std::is_same_v<Value, use_default>, std::decay_t<detail::applied_t<Function, Iterator>>, Value>,
          detail::applied_t<Function, Iterator>, detail::system_t<Iterator>> {
 public:
  __host__ __device__ constexpr transform_iterator() : base_(), function_() {}
  __host__ __device__ constexpr transform_iterator(Iterator base, Function function) : base_(base), function_(function) {}
  __host__ __device__ constexpr explicit transform_iterator(Iterator base) : base_(base), function_() {}
  __host__ __device__ constexpr const Iterator& base() const { return base_; }
  __host__ __device__ constexpr Function functor() const { return function_; }
  __host__ __device__ constexpr detail::applied_t<Function, Iterator> at(std::ptrdiff_t n) const {
    return function_(*(base_ + n));
  }
  __host__ __device__ constexpr transform_iterator moved(std::ptrdiff_t n) const {
    return transform_iterator(base_ + n, function_);
  }
  __host__ __device__ constexpr std::ptrdiff_t distance_from(const transform_iterator& other) const {
    return base_ - other.base_;
  }
  // Functors with captures cannot be assigned; moving an iterator only moves its base.
  __host__ __device__ constexpr transform_iterator& operator=(const transform_iterator& other) {
    base_ = other.base_;
    return *this;
  }
  constexpr transform_iterator(const transform_iterator&) = default;

 private:
  Iterator base_;
  Function function_;
};

template <class Function, class Iterator>
__host__ __device__ constexpr transform_iterator<Function, Iterator> make_transform_iterator(Iterator base, Function function) {
  return transform_iterator<Function, Iterator>(base, function);
}

}  // namespace thrust
