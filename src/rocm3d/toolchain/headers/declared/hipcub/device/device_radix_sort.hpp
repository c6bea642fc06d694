#pragma once

#include <hipcub/util_type.hpp>
#include <rocprim/types/tuple.hpp>

namespace hipcub {

namespace detail {

// Half precision types are structs of two bytes.
template <class T>
inline constexpr bool is_number =
    std::is_arithmetic_v<T> || std::is_same_v<T, __int128_t> || std::is_same_v<T, __uint128_t> || sizeof(T) == 2;

template <class T>
struct is_rocprim_tuple : std::false_type {};
template <class... Ts>
struct is_rocprim_tuple<::rocprim::tuple<Ts...>> : std::true_type {};

// A decomposer returns the parts of a key as a rocPRIM tuple; tuples of other libraries are not supported.
template <class Decomposer, class Key>
inline constexpr bool is_decomposer =
    is_rocprim_tuple<rocm3d_declared::plain_t<rocm3d_declared::called_t<Decomposer&, Key&>>>::value;

}  // namespace detail

struct DeviceRadixSort {
#define ROCM3D_SORT_KEYS(name)                                                                                          \
  template <class Key, class Size>                                                                                      \
  static hipError_t name(void*, size_t& bytes, const Key* in, Key* out, Size n, int = 0, int = sizeof(Key) * 8,         \
                         hipStream_t stream = 0) {                                                                      \
    static_assert(detail::is_number<Key>, "a key that is no number needs a decomposer");                                   \
    bytes = 1;                                                                                                          \
    return rocm3d_declared::on_device([=] __device__() { for (Size i = 0; i < n; ++i) out[i] = in[i]; }, stream);       \
  }                                                                                                                     \
  template <class Key, class Size>                                                                                      \
  static hipError_t name(void* temp, size_t& bytes, DoubleBuffer<Key>& keys, Size n, int first = 0,                     \
                         int last = sizeof(Key) * 8, hipStream_t stream = 0) {                                          \
    return name(temp, bytes, keys.Current(), keys.Alternate(), n, first, last, stream);                                 \
  }                                                                                                                     \
  template <class Key, class Size, class Decomposer>                                                                    \
  static auto name(void*, size_t& bytes, const Key* in, Key* out, Size n, Decomposer decomposer, int, int,              \
                   hipStream_t stream = 0) -> std::enable_if_t<!std::is_convertible_v<Decomposer, int>, hipError_t> {   \
    return decomposed(bytes, in, out, n, decomposer, stream);                                                           \
  }                                                                                                                     \
  template <class Key, class Size, class Decomposer>                                                                    \
  static auto name(void*, size_t& bytes, const Key* in, Key* out, Size n, Decomposer decomposer,                        \
                   hipStream_t stream = 0) -> std::enable_if_t<!std::is_convertible_v<Decomposer, int>, hipError_t> {   \
    return decomposed(bytes, in, out, n, decomposer, stream);                                                           \
  }

#define ROCM3D_SORT_PAIRS(name)                                                                                         \
  template <class Key, class Value, class Size>                                                                         \
  static hipError_t name(void*, size_t& bytes, const Key* in, Key* out, const Value* values, Value* values_out, Size n, \
                         int = 0, int = sizeof(Key) * 8, hipStream_t stream = 0) {                                      \
    static_assert(detail::is_number<Key>, "a key that is no number needs a decomposer");                                   \
    bytes = 1;                                                                                                          \
    return rocm3d_declared::on_device(                                                                                  \
        [=] __device__() {                                                                                              \
          for (Size i = 0; i < n; ++i) {                                                                                \
            out[i] = in[i];                                                                                             \
            values_out[i] = values[i];                                                                                  \
          }                                                                                                             \
        },                                                                                                              \
        stream);                                                                                                        \
  }                                                                                                                     \
  template <class Key, class Value, class Size>                                                                         \
  static hipError_t name(void* temp, size_t& bytes, DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values, Size n,       \
                         int first = 0, int last = sizeof(Key) * 8, hipStream_t stream = 0) {                           \
    return name(temp, bytes, keys.Current(), keys.Alternate(), values.Current(), values.Alternate(), n, first, last,    \
                stream);                                                                                                \
  }                                                                                                                     \
  template <class Key, class Value, class Size, class Decomposer>                                                       \
  static auto name(void*, size_t& bytes, const Key* in, Key* out, const Value*, Value*, Size n, Decomposer decomposer,  \
                   int, int, hipStream_t stream = 0)                                                                    \
      -> std::enable_if_t<!std::is_convertible_v<Decomposer, int>, hipError_t> {                                        \
    return decomposed(bytes, in, out, n, decomposer, stream);                                                           \
  }                                                                                                                     \
  template <class Key, class Value, class Size, class Decomposer>                                                       \
  static auto name(void*, size_t& bytes, const Key* in, Key* out, const Value*, Value*, Size n, Decomposer decomposer,  \
                   hipStream_t stream = 0)                                                                              \
      -> std::enable_if_t<!std::is_convertible_v<Decomposer, int>, hipError_t> {                                        \
    return decomposed(bytes, in, out, n, decomposer, stream);                                                           \
  }

  ROCM3D_SORT_KEYS(SortKeys)
  ROCM3D_SORT_KEYS(SortKeysDescending)
  ROCM3D_SORT_PAIRS(SortPairs)
  ROCM3D_SORT_PAIRS(SortPairsDescending)
#undef ROCM3D_SORT_KEYS
#undef ROCM3D_SORT_PAIRS

 private:
  template <class Key, class Size, class Decomposer>
  static hipError_t decomposed(size_t& bytes, const Key* in, Key* out, Size n, Decomposer decomposer, hipStream_t stream) {
    static_assert(detail::is_decomposer<Decomposer, Key>, "the decomposer must return a rocprim::tuple of references");
    bytes = 1;
    return rocm3d_declared::on_device(
        [=] __device__() {
          for (Size i = 0; i < n; ++i) {
            Key key = in[i];
            (void)decomposer(key);
            out[i] = key;
          }
        },
        stream);
  }
};

}  // namespace hipcub
