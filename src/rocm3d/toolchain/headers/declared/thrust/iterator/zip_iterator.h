#pragma once

#include <thrust/iterator/iterator_traits.h>
#include <thrust/tuple.h>

namespace thrust {

namespace detail {
template <class Tuple>
struct zipped;
template <class... Iterators>
struct zipped<tuple<Iterators...>> {
  using value = tuple<typename std::iterator_traits<Iterators>::value_type...>;
  using reference = tuple<reference_t<Iterators>...>;
  using system = std::conditional_t<(is_of_device<Iterators> || ...), device_system_tag,
                                    std::conditional_t<(std::is_same_v<system_t<Iterators>, any_system_tag> && ...),
                                                       any_system_tag, host_system_tag>>;
  using indices = std::index_sequence_for<Iterators...>;
};
}  // namespace detail

template <class Tuple>
class zip_iterator
    : public detail::iterator_core<zip_iterator<Tuple>, typename detail::zipped<Tuple>::value,
                                   typename detail::zipped<Tuple>::reference, typename detail::zipped<Tuple>::system> {
  using kind = detail::zipped<Tuple>;

 public:
  __host__ __device__ constexpr zip_iterator() {}
  __host__ __device__ constexpr zip_iterator(Tuple iterators) : iterators_(iterators) {}
  __host__ __device__ constexpr const Tuple& get_iterator_tuple() const { return iterators_; }
  __host__ __device__ constexpr typename kind::reference at(std::ptrdiff_t n) const {
    return at(n, typename kind::indices{});
  }
  __host__ __device__ constexpr zip_iterator moved(std::ptrdiff_t n) const { return moved(n, typename kind::indices{}); }
  __host__ __device__ constexpr std::ptrdiff_t distance_from(const zip_iterator& other) const {
    return get<0>(iterators_) - get<0>(other.iterators_);
  }

 private:
  template <std::size_t... Is>
  __host__ __device__ constexpr typename kind::reference at(std::ptrdiff_t n, std::index_sequence<Is...>) const {
    return typename kind::reference(*(get<Is>(iterators_) + n)...);
  }
  template <std::size_t... Is>
  __host__ __device__ constexpr zip_iterator moved(std::ptrdiff_t n, std::index_sequence<Is...>) const {
    return zip_iterator(Tuple((get<Is>(iterators_) + n)...));
  }
  Tuple iterators_;
};

template <class... Iterators>
__host__ __device__ constexpr zip_iterator<tuple<Iterators...>> make_zip_iterator(tuple<Iterators...> given) {
  return zip_iterator<tuple<Iterators...>>(given);
}
template <class... Iterators>
__host__ __device__ constexpr zip_iterator<tuple<Iterators...>> make_zip_iterator(Iterators... given) {
  return zip_iterator<tuple<Iterators...>>(tuple<Iterators...>(given...));
}

}  // namespace thrust
