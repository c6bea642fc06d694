#pragma once

#include <thrust/iterator/iterator_traits.h>

namespace thrust {

namespace detail {
struct discarded {
  template <class Anything>
  __host__ __device__ constexpr const discarded& operator=(const Anything&) const {
    return *this;
  }
};
}  // namespace detail

template <class System = use_default>
class discard_iterator
    : public detail::iterator_core<discard_iterator<System>, detail::discarded, detail::discarded, any_system_tag> {
 public:
  __host__ __device__ constexpr discard_iterator(std::ptrdiff_t index = 0) : index_(index) {}
  __host__ __device__ constexpr detail::discarded at(std::ptrdiff_t) const { return {}; }
  __host__ __device__ constexpr discard_iterator moved(std::ptrdiff_t n) const { return discard_iterator(index_ + n); }
  __host__ __device__ constexpr std::ptrdiff_t distance_from(const discard_iterator& other) const {
    return index_ - other.index_;
  }

 private:
  std::ptrdiff_t index_;
};

__host__ __device__ constexpr inline discard_iterator<> make_discard_iterator(std::ptrdiff_t index = 0) {
  return discard_iterator<>(index);
}

}  // namespace thrust
