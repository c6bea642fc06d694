#pragma once

#include <thrust/iterator/iterator_traits.h>

namespace thrust {

template <class Elements, class Indices>
class permutation_iterator
    : public detail::iterator_core<permutation_iterator<Elements, Indices>,
                                   typename std::iterator_traits<Elements>::value_type, detail::reference_t<Elements>,
                                   detail::system_t<Elements>> {
 public:
  __host__ __device__ constexpr permutation_iterator() : elements_(), indices_() {}
  __host__ __device__ constexpr permutation_iterator(Elements elements, Indices indices)
      : elements_(elements), indices_(indices) {}
  __host__ __device__ constexpr detail::reference_t<Elements> at(std::ptrdiff_t n) const {
    return *(elements_ + *(indices_ + n));
  }
  __host__ __device__ constexpr permutation_iterator moved(std::ptrdiff_t n) const {
    return permutation_iterator(elements_, indices_ + n);
  }
  __host__ __device__ constexpr std::ptrdiff_t distance_from(const permutation_iterator& other) const {
    return indices_ - other.indices_;
  }

 private:
  Elements elements_;
  Indices indices_;
};

template <class Elements, class Indices>
__host__ __device__ constexpr permutation_iterator<Elements, Indices> make_permutation_iterator(Elements elements,
                                                                                                Indices indices) {
  return permutation_iterator<Elements, Indices>(elements, indices);
}

}  // namespace thrust
