#pragma once

#include <iterator>
#include <thrust/detail/config.h>

namespace thrust {

template <class Iterator>
struct iterator_traits : std::iterator_traits<Iterator> {};

template <class Iterator>
using iterator_value_t = typename std::iterator_traits<Iterator>::value_type;
template <class Iterator>
struct iterator_value {
  using type = typename std::iterator_traits<Iterator>::value_type;
};
template <class Iterator>
struct iterator_difference {
  using type = typename std::iterator_traits<Iterator>::difference_type;
};
template <class Iterator>
struct iterator_reference {
  using type = typename std::iterator_traits<Iterator>::reference;
};
template <class Iterator>
struct iterator_pointer {
  using type = typename std::iterator_traits<Iterator>::pointer;
};

struct random_access_traversal_tag {};
struct use_default {};

namespace detail {

// Base of all iterators; Derived has `at(n)` and `moved(n)` and defines its own types.
template <class Derived, class Value, class Reference, class System>
struct iterator_core {
  using value_type = Value;
  using reference = Reference;
  using pointer = std::add_pointer_t<std::remove_reference_t<Reference>>;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;
  using system_type = System;

  __host__ __device__ constexpr Derived& self() { return static_cast<Derived&>(*this); }
  __host__ __device__ constexpr const Derived& self() const { return static_cast<const Derived&>(*this); }
  __host__ __device__ constexpr Reference operator*() const { return self().at(0); }
  __host__ __device__ constexpr Reference operator[](difference_type n) const { return self().at(n); }
  __host__ __device__ constexpr Derived operator+(difference_type n) const { return self().moved(n); }
  __host__ __device__ constexpr Derived operator-(difference_type n) const { return self().moved(-n); }
  friend __host__ __device__ constexpr Derived operator+(difference_type n, const Derived& it) { return it.moved(n); }
  __host__ __device__ constexpr Derived& operator+=(difference_type n) { return self() = self().moved(n); }
  __host__ __device__ constexpr Derived& operator-=(difference_type n) { return self() = self().moved(-n); }
  __host__ __device__ constexpr Derived& operator++() { return self() = self().moved(1); }
  __host__ __device__ constexpr Derived& operator--() { return self() = self().moved(-1); }
  __host__ __device__ constexpr Derived operator++(int) {
    Derived was = self();
    ++*this;
    return was;
  }
  __host__ __device__ constexpr Derived operator--(int) {
    Derived was = self();
    --*this;
    return was;
  }
  friend __host__ __device__ constexpr difference_type operator-(const Derived& a, const Derived& b) {
    return a.distance_from(b);
  }
  friend __host__ __device__ constexpr bool operator==(const Derived& a, const Derived& b) { return a - b == 0; }
  friend __host__ __device__ constexpr bool operator!=(const Derived& a, const Derived& b) { return a - b != 0; }
  friend __host__ __device__ constexpr bool operator<(const Derived& a, const Derived& b) { return a - b < 0; }
  friend __host__ __device__ constexpr bool operator>(const Derived& a, const Derived& b) { return a - b > 0; }
  friend __host__ __device__ constexpr bool operator<=(const Derived& a, const Derived& b) { return a - b <= 0; }
  friend __host__ __device__ constexpr bool operator>=(const Derived& a, const Derived& b) { return a - b >= 0; }
};

template <class Iterator>
using system_t = typename iterator_system<Iterator>::type;
template <class Iterator>
using reference_t = decltype(*std::declval<const Iterator&>());

}  // namespace detail

}  // namespace thrust
