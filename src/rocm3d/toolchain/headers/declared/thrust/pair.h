#pragma once

#include <thrust/detail/config.h>

namespace thrust {

template <class A, class B>
struct pair {
  using first_type = A;
  using second_type = B;
  A first;
  B second;

  __host__ __device__ constexpr pair() : first(), second() {}
  __host__ __device__ constexpr pair(const A& a, const B& b) : first(a), second(b) {}
  template <class C, class D>
  __host__ __device__ constexpr pair(const pair<C, D>& other) : first(other.first), second(other.second) {}
  template <class C, class D>
  __host__ __device__ constexpr pair(const std::pair<C, D>& other) : first(other.first), second(other.second) {}
  constexpr pair(const pair&) = default;
  constexpr pair& operator=(const pair&) = default;
  __host__ __device__ void swap(pair& other) {
    pair kept(*this);
    *this = other;
    other = kept;
  }
};

template <class A, class B>
__host__ __device__ constexpr bool operator==(const pair<A, B>& x, const pair<A, B>& y) {
  return x.first == y.first && x.second == y.second;
}
template <class A, class B>
__host__ __device__ constexpr bool operator!=(const pair<A, B>& x, const pair<A, B>& y) {
  return !(x == y);
}
template <class A, class B>
__host__ __device__ constexpr bool operator<(const pair<A, B>& x, const pair<A, B>& y) {
  return x.first < y.first || (!(y.first < x.first) && x.second < y.second);
}
template <class A, class B>
__host__ __device__ constexpr bool operator>(const pair<A, B>& x, const pair<A, B>& y) {
  return y < x;
}

template <class A, class B>
__host__ __device__ constexpr pair<A, B> make_pair(A a, B b) {
  return pair<A, B>(a, b);
}

template <std::size_t I, class A, class B>
__host__ __device__ constexpr auto& get(pair<A, B>& given) {
  if constexpr (I == 0) {
    return given.first;
  } else {
    return given.second;
  }
}
template <std::size_t I, class A, class B>
__host__ __device__ constexpr const auto& get(const pair<A, B>& given) {
  if constexpr (I == 0) {
    return given.first;
  } else {
    return given.second;
  }
}

}  // namespace thrust

template <class A, class B>
struct std::tuple_size<thrust::pair<A, B>> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I, class A, class B>
struct std::tuple_element<I, thrust::pair<A, B>> {
  using type = std::conditional_t<I == 0, A, B>;
};
