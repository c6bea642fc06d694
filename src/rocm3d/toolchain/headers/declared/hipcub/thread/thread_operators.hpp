#pragma once

#include <hipcub/util_type.hpp>

namespace hipcub {

struct Equality {
  template <class T, class U>
  __host__ __device__ constexpr bool operator()(T&& a, U&& b) const {
    return a == b;
  }
};
struct Inequality {
  template <class T, class U>
  __host__ __device__ constexpr bool operator()(T&& a, U&& b) const {
    return a != b;
  }
};
template <class Operation>
struct InequalityWrapper {
  Operation op;
  __host__ __device__ explicit InequalityWrapper(Operation given) : op(given) {}
  template <class T, class U>
  __host__ __device__ bool operator()(T&& a, U&& b) {
    return !op(a, b);
  }
};
struct Sum {
  template <class T, class U>
  __host__ __device__ constexpr auto operator()(T&& a, U&& b) const {
    return a + b;
  }
};
struct Difference {
  template <class T, class U>
  __host__ __device__ constexpr auto operator()(T&& a, U&& b) const {
    return a - b;
  }
};
struct Division {
  template <class T, class U>
  __host__ __device__ constexpr auto operator()(T&& a, U&& b) const {
    return a / b;
  }
};
struct Max {
  template <class T, class U>
  __host__ __device__ constexpr std::common_type_t<T, U> operator()(T&& a, U&& b) const {
    return b > a ? b : a;
  }
};
struct Min {
  template <class T, class U>
  __host__ __device__ constexpr std::common_type_t<T, U> operator()(T&& a, U&& b) const {
    return b < a ? b : a;
  }
};
struct ArgMax {
  template <class Key, class Value>
  __host__ __device__ KeyValuePair<Key, Value> operator()(const KeyValuePair<Key, Value>& a,
                                                          const KeyValuePair<Key, Value>& b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class Key, class Value>
  __host__ __device__ KeyValuePair<Key, Value> operator()(const KeyValuePair<Key, Value>& a,
                                                          const KeyValuePair<Key, Value>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
template <class T>
struct CastOp {
  template <class U>
  __host__ __device__ T operator()(U&& given) const {
    return static_cast<T>(given);
  }
};

}  // namespace hipcub
