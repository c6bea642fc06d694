#pragma once

#include <functional>
#include <thrust/detail/config.h>

namespace thrust {

template <class Argument, class Result>
struct unary_function {
  using argument_type = Argument;
  using result_type = Result;
};
template <class First, class Second, class Result>
struct binary_function {
  using first_argument_type = First;
  using second_argument_type = Second;
  using result_type = Result;
};

#define ROCM3D_BINARY(name, expression)                                                        \
  template <class T = void>                                                                    \
  struct name {                                                                                \
    using first_argument_type = T;                                                             \
    using second_argument_type = T;                                                            \
    using result_type = T;                                                                     \
    __host__ __device__ constexpr auto operator()(const T& x, const T& y) const -> decltype(expression) { return expression; } \
  };                                                                                           \
  template <>                                                                                  \
  struct name<void> {                                                                          \
    using is_transparent = void;                                                               \
    template <class A, class B>                                                                \
    __host__ __device__ constexpr auto operator()(const A& x, const B& y) const {              \
      return expression;                                                                       \
    }                                                                                          \
  };
#define ROCM3D_UNARY(name, expression)                                              \
  template <class T = void>                                                         \
  struct name {                                                                     \
    using argument_type = T;                                                        \
    using result_type = T;                                                          \
    __host__ __device__ constexpr auto operator()(const T& x) const -> decltype(expression) { return expression; } \
  };                                                                                \
  template <>                                                                       \
  struct name<void> {                                                               \
    using is_transparent = void;                                                    \
    template <class A>                                                              \
    __host__ __device__ constexpr auto operator()(const A& x) const {               \
      return expression;                                                            \
    }                                                                               \
  };

ROCM3D_BINARY(plus, x + y)
ROCM3D_BINARY(minus, x - y)
ROCM3D_BINARY(multiplies, x* y)
ROCM3D_BINARY(divides, x / y)
ROCM3D_BINARY(modulus, x % y)
ROCM3D_BINARY(equal_to, x == y)
ROCM3D_BINARY(not_equal_to, x != y)
ROCM3D_BINARY(greater, x > y)
ROCM3D_BINARY(less, x < y)
ROCM3D_BINARY(greater_equal, x >= y)
ROCM3D_BINARY(less_equal, x <= y)
ROCM3D_BINARY(logical_and, x&& y)
ROCM3D_BINARY(logical_or, x || y)
ROCM3D_BINARY(bit_and, x& y)
ROCM3D_BINARY(bit_or, x | y)
ROCM3D_BINARY(bit_xor, x ^ y)
ROCM3D_UNARY(negate, -x)
ROCM3D_UNARY(square, x* x)
ROCM3D_UNARY(logical_not, !x)

#undef ROCM3D_BINARY
#undef ROCM3D_UNARY

template <class T = void>
struct maximum {
  using result_type = T;
  __host__ __device__ constexpr T operator()(const T& x, const T& y) const { return x < y ? y : x; }
};
template <>
struct maximum<void> {
  template <class A, class B>
  __host__ __device__ constexpr auto operator()(const A& x, const B& y) const {
    return x < y ? y : x;
  }
};
template <class T = void>
struct minimum {
  using result_type = T;
  __host__ __device__ constexpr T operator()(const T& x, const T& y) const { return x < y ? x : y; }
};
template <>
struct minimum<void> {
  template <class A, class B>
  __host__ __device__ constexpr auto operator()(const A& x, const B& y) const {
    return x < y ? x : y;
  }
};
template <class T = void>
struct identity {
  using argument_type = T;
  using result_type = T;
  __host__ __device__ constexpr const T& operator()(const T& x) const { return x; }
};
template <>
struct identity<void> {
  template <class A>
  __host__ __device__ constexpr A&& operator()(A&& x) const {
    return static_cast<A&&>(x);
  }
};
template <class A = void, class B = A>
struct project1st {
  __host__ __device__ constexpr const A& operator()(const A& x, const B&) const { return x; }
};
template <class A = void, class B = A>
struct project2nd {
  __host__ __device__ constexpr const B& operator()(const A&, const B& y) const { return y; }
};

template <class Predicate>
struct unary_negate {
  Predicate predicate;
  template <class A>
  __host__ __device__ constexpr bool operator()(const A& x) const {
    return !predicate(x);
  }
};
template <class Predicate>
__host__ __device__ constexpr unary_negate<Predicate> not1(Predicate predicate) {
  return {predicate};
}
template <class Predicate>
__host__ __device__ constexpr unary_negate<Predicate> not_fn(Predicate predicate) {
  return {predicate};
}

}  // namespace thrust
