#pragma once

#include <hipcub/config.hpp>
#include <limits>

namespace hipcub {

using NullType = struct NullTypeTag;
struct NullTypeTag {
  template <class T>
  __host__ __device__ NullTypeTag& operator=(const T&) {
    return *this;
  }
};

template <int n>
struct Int2Type {
  enum { VALUE = n };
};

template <class Key, class Value>
struct KeyValuePair {
  using Key_ = Key;
  Key key;
  Value value;
  __host__ __device__ KeyValuePair() {}
  __host__ __device__ KeyValuePair(const Key& k, const Value& v) : key(k), value(v) {}
  __host__ __device__ bool operator!=(const KeyValuePair& other) const { return key != other.key || value != other.value; }
};

template <class T>
struct DoubleBuffer {
  T* d_buffers[2];
  int selector;
  __host__ __device__ DoubleBuffer() : d_buffers{nullptr, nullptr}, selector(0) {}
  __host__ __device__ DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate}, selector(0) {}
  __host__ __device__ T* Current() { return d_buffers[selector]; }
  __host__ __device__ T* Alternate() { return d_buffers[selector ^ 1]; }
};

template <class T>
struct Uninitialized {
  alignas(T) unsigned char storage[sizeof(T)];
  __host__ __device__ T& Alias() { return reinterpret_cast<T&>(*this); }
};

template <class T>
struct FutureValue {
  using value_type = T;
  T* pointer;
  __host__ __device__ explicit FutureValue(T* given) : pointer(given) {}
};

enum Category { NOT_A_NUMBER, SIGNED_INTEGER, UNSIGNED_INTEGER, FLOATING_POINT };

template <Category category, bool primitive, bool null_type, class Unsigned, class T>
struct BaseTraits {
  static constexpr Category CATEGORY = category;
  enum { PRIMITIVE = primitive, NULL_TYPE = null_type };
  using UnsignedBits = Unsigned;
};
template <class T>
struct NumericTraits : BaseTraits<std::is_floating_point_v<T> ? FLOATING_POINT
                                  : std::is_signed_v<T>       ? SIGNED_INTEGER
                                  : std::is_unsigned_v<T>     ? UNSIGNED_INTEGER
                                                              : NOT_A_NUMBER,
                                  std::is_arithmetic_v<T>, false, T, T> {};
template <class T>
struct Traits : NumericTraits<std::remove_cv_t<T>> {};
template <class T>
struct FpLimits {
  static __host__ __device__ T Max() { return std::numeric_limits<T>::max(); }
  static __host__ __device__ T Lowest() { return std::numeric_limits<T>::lowest(); }
};

template <class A, class B>
__host__ __device__ constexpr auto DivideAndRoundUp(A a, B b) {
  return (a + b - 1) / b;
}
template <int n>
struct Log2 {
  enum { VALUE = n <= 1 ? 0 : 1 + Log2<(n + 1) / 2>::VALUE };
};
template <>
struct Log2<1> {
  enum { VALUE = 0 };
};
template <>
struct Log2<0> {
  enum { VALUE = 0 };
};

}  // namespace hipcub
