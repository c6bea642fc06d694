#pragma once

#include <thrust/detail/config.h>
#include <thrust/pair.h>
#include <tuple>

namespace thrust {

template <class... Ts>
class tuple;

struct null_type {};

namespace detail {

template <std::size_t I, class T>
struct leaf {
  T value;
  __host__ __device__ constexpr leaf() : value() {}
  template <class U>
  __host__ __device__ constexpr explicit leaf(std::in_place_t, U&& given) : value(static_cast<U&&>(given)) {}
};

template <class Indices, class... Ts>
struct leaves;

template <std::size_t... Is, class... Ts>
struct leaves<std::index_sequence<Is...>, Ts...> : leaf<Is, Ts>... {
  __host__ __device__ constexpr leaves() {}
  template <class... Us>
  __host__ __device__ constexpr explicit leaves(std::in_place_t, Us&&... given)
      : leaf<Is, Ts>(std::in_place, static_cast<Us&&>(given))... {}
};

template <std::size_t I, class T>
__host__ __device__ constexpr T& value_of(leaf<I, T>& given) {
  return given.value;
}
template <std::size_t I, class T>
__host__ __device__ constexpr const T& value_of(const leaf<I, T>& given) {
  return given.value;
}

}  // namespace detail

template <std::size_t I, class T>
struct tuple_element;
template <std::size_t I, class... Ts>
struct tuple_element<I, tuple<Ts...>> {
  using type = std::tuple_element_t<I, std::tuple<Ts...>>;
};
template <std::size_t I, class T>
struct tuple_element<I, const T> {
  using type = const typename tuple_element<I, T>::type;
};
template <std::size_t I, class T>
using tuple_element_t = typename tuple_element<I, T>::type;

template <class T>
struct tuple_size;
template <class... Ts>
struct tuple_size<tuple<Ts...>> : std::integral_constant<std::size_t, sizeof...(Ts)> {};
template <class T>
struct tuple_size<const T> : tuple_size<T> {};

template <class... Ts>
class tuple : public detail::leaves<std::index_sequence_for<Ts...>, Ts...> {
  using base = detail::leaves<std::index_sequence_for<Ts...>, Ts...>;

 public:
  __host__ __device__ constexpr tuple() {}
  template <class... Us, class = std::enable_if_t<sizeof...(Us) == sizeof...(Ts) && (sizeof...(Us) > 0) &&
                                                  (std::is_constructible_v<Ts, Us&&> && ...)>>
  __host__ __device__ constexpr tuple(Us&&... given) : base(std::in_place, static_cast<Us&&>(given)...) {}
  template <class... Us, class = std::enable_if_t<sizeof...(Us) == sizeof...(Ts) && !(std::is_same_v<Ts, Us> && ...)>>
  __host__ __device__ constexpr tuple(const tuple<Us...>& other)
      : tuple(other, std::index_sequence_for<Ts...>{}) {}
  constexpr tuple(const tuple&) = default;
  __host__ __device__ constexpr tuple& operator=(const tuple& other) {
    return assign(other, std::index_sequence_for<Ts...>{});
  }
  template <class... Us>
  __host__ __device__ constexpr tuple& operator=(const tuple<Us...>& other) {
    return assign(other, std::index_sequence_for<Ts...>{});
  }
  template <class A, class B>
  __host__ __device__ constexpr tuple& operator=(const pair<A, B>& other) {
    detail::value_of<0>(*this) = other.first;
    detail::value_of<1>(*this) = other.second;
    return *this;
  }
  __host__ __device__ constexpr void swap(tuple& other) {
    tuple kept(*this);
    *this = other;
    other = kept;
  }

 private:
  template <class Other, std::size_t... Is>
  __host__ __device__ constexpr tuple(const Other& other, std::index_sequence<Is...>)
      : base(std::in_place, detail::value_of<Is>(other)...) {}
  template <class Other, std::size_t... Is>
  __host__ __device__ constexpr tuple& assign(const Other& other, std::index_sequence<Is...>) {
    ((detail::value_of<Is>(*this) = detail::value_of<Is>(other)), ...);
    return *this;
  }
};

template <class... Ts>
tuple(Ts...) -> tuple<Ts...>;

template <std::size_t I, class... Ts>
__host__ __device__ constexpr tuple_element_t<I, tuple<Ts...>>& get(tuple<Ts...>& given) {
  return detail::value_of<I>(given);
}
template <std::size_t I, class... Ts>
__host__ __device__ constexpr const tuple_element_t<I, tuple<Ts...>>& get(const tuple<Ts...>& given) {
  return detail::value_of<I>(given);
}
template <std::size_t I, class... Ts>
__host__ __device__ constexpr tuple_element_t<I, tuple<Ts...>>&& get(tuple<Ts...>&& given) {
  return static_cast<tuple_element_t<I, tuple<Ts...>>&&>(detail::value_of<I>(given));
}

template <class... Ts>
__host__ __device__ constexpr tuple<std::decay_t<Ts>...> make_tuple(Ts&&... given) {
  return tuple<std::decay_t<Ts>...>(static_cast<Ts&&>(given)...);
}
template <class... Ts>
__host__ __device__ constexpr tuple<Ts&...> tie(Ts&... given) {
  return tuple<Ts&...>(given...);
}

namespace detail {

template <std::size_t I = 0, class T, class U>
__host__ __device__ constexpr bool equal_from(const T& a, const U& b) {
  if constexpr (I == tuple_size<T>::value) {
    return true;
  } else {
    return get<I>(a) == get<I>(b) && equal_from<I + 1>(a, b);
  }
}
template <std::size_t I = 0, class T, class U>
__host__ __device__ constexpr bool less_from(const T& a, const U& b) {
  if constexpr (I == tuple_size<T>::value) {
    return false;
  } else {
    return get<I>(a) < get<I>(b) || (!(get<I>(b) < get<I>(a)) && less_from<I + 1>(a, b));
  }
}

}  // namespace detail

template <class... Ts, class... Us>
__host__ __device__ constexpr bool operator==(const tuple<Ts...>& a, const tuple<Us...>& b) {
  return detail::equal_from(a, b);
}
template <class... Ts, class... Us>
__host__ __device__ constexpr bool operator!=(const tuple<Ts...>& a, const tuple<Us...>& b) {
  return !(a == b);
}
template <class... Ts, class... Us>
__host__ __device__ constexpr bool operator<(const tuple<Ts...>& a, const tuple<Us...>& b) {
  return detail::less_from(a, b);
}
template <class... Ts, class... Us>
__host__ __device__ constexpr bool operator>(const tuple<Ts...>& a, const tuple<Us...>& b) {
  return b < a;
}
template <class... Ts, class... Us>
__host__ __device__ constexpr bool operator<=(const tuple<Ts...>& a, const tuple<Us...>& b) {
  return !(b < a);
}
template <class... Ts, class... Us>
__host__ __device__ constexpr bool operator>=(const tuple<Ts...>& a, const tuple<Us...>& b) {
  return !(a < b);
}

}  // namespace thrust

template <class... Ts>
struct std::tuple_size<thrust::tuple<Ts...>> : std::integral_constant<std::size_t, sizeof...(Ts)> {};
template <std::size_t I, class... Ts>
struct std::tuple_element<I, thrust::tuple<Ts...>> {
  using type = thrust::tuple_element_t<I, thrust::tuple<Ts...>>;
};
