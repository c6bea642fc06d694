#pragma once

#include <tuple>
#include <utility>

// A rocPRIM tuple has the interface of the standard one but is a separate type.
namespace rocprim {

template <class... Ts>
struct tuple : std::tuple<Ts...> {
  constexpr tuple() = default;
  // Not the inherited constructors, which are host-only.
  template <class... Us, class = std::enable_if_t<sizeof...(Us) == sizeof...(Ts) && (sizeof...(Us) > 0) &&
                                                  std::is_constructible_v<std::tuple<Ts...>, Us&&...>>>
  __host__ __device__ constexpr tuple(Us&&... given) : std::tuple<Ts...>(static_cast<Us&&>(given)...) {}
};
template <class... Ts>
tuple(Ts...) -> tuple<Ts...>;

template <std::size_t I, class... Ts>
__host__ __device__ constexpr std::tuple_element_t<I, std::tuple<Ts...>>& get(tuple<Ts...>& given) {
  return std::get<I>(static_cast<std::tuple<Ts...>&>(given));
}
template <std::size_t I, class... Ts>
__host__ __device__ constexpr const std::tuple_element_t<I, std::tuple<Ts...>>& get(const tuple<Ts...>& given) {
  return std::get<I>(static_cast<const std::tuple<Ts...>&>(given));
}
template <class... Ts>
__host__ __device__ constexpr tuple<std::decay_t<Ts>...> make_tuple(Ts&&... given) {
  return tuple<std::decay_t<Ts>...>(static_cast<Ts&&>(given)...);
}
template <class... Ts>
__host__ __device__ constexpr tuple<Ts&...> tie(Ts&... given) {
  return tuple<Ts&...>(given...);
}

}  // namespace rocprim

template <class... Ts>
struct std::tuple_size<rocprim::tuple<Ts...>> : std::integral_constant<std::size_t, sizeof...(Ts)> {};
template <std::size_t I, class... Ts>
struct std::tuple_element<I, rocprim::tuple<Ts...>> : std::tuple_element<I, std::tuple<Ts...>> {};
