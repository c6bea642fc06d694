#pragma once

#include <thrust/iterator/iterator_traits.h>

namespace thrust {

template <class Incrementable, class System = use_default, class Traversal = use_default, class Difference = use_default>
class counting_iterator
    : public detail::iterator_core<counting_iterator<Incrementable, System, Traversal, Difference>, Incrementable,
                                   Incrementable, any_system_tag> {
 public:
  __host__ __device__ constexpr counting_iterator() : value_() {}
  __host__ __device__ constexpr explicit counting_iterator(Incrementable value) : value_(value) {}
  __host__ __device__ constexpr Incrementable base() const { return value_; }
  __host__ __device__ constexpr Incrementable at(std::ptrdiff_t n) const { return value_ + static_cast<Incrementable>(n); }
  __host__ __device__ constexpr counting_iterator moved(std::ptrdiff_t n) const { return counting_iterator(at(n)); }
  __host__ __device__ constexpr std::ptrdiff_t distance_from(const counting_iterator& other) const {
    return static_cast<std::ptrdiff_t>(value_) - static_cast<std::ptrdiff_t>(other.value_);
  }

 private:
  Incrementable value_;
};

template <class Incrementable>
__host__ __device__ constexpr counting_iterator<Incrementable> make_counting_iterator(Incrementable value) {
  return counting_iterator<Incrementable>(value);
}

}  // namespace thrust
