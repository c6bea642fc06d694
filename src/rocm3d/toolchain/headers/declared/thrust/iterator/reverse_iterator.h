#pragma once

#include <thrust/iterator/iterator_traits.h>

namespace thrust {

template <class Iterator>
class reverse_iterator
    : public detail::iterator_core<reverse_iterator<Iterator>, typename std::iterator_traits<Iterator>::value_type,
                                   detail::reference_t<Iterator>, detail::system_t<Iterator>> {
 public:
  __host__ __device__ constexpr reverse_iterator() : base_() {}
  __host__ __device__ constexpr explicit reverse_iterator(Iterator base) : base_(base) {}
  __host__ __device__ constexpr const Iterator& base() const { return base_; }
  __host__ __device__ constexpr detail::reference_t<Iterator> at(std::ptrdiff_t n) const { return *(base_ - (n + 1)); }
  __host__ __device__ constexpr reverse_iterator moved(std::ptrdiff_t n) const { return reverse_iterator(base_ - n); }
  __host__ __device__ constexpr std::ptrdiff_t distance_from(const reverse_iterator& other) const {
    return other.base_ - base_;
  }

 private:
  Iterator base_;
};

template <class Iterator>
__host__ __device__ constexpr reverse_iterator<Iterator> make_reverse_iterator(Iterator base) {
  return reverse_iterator<Iterator>(base);
}

}  // namespace thrust
