// Systems and policies, and how an algorithm runs under each of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <rocm3d_declared/work.h>

#define THRUST_VERSION 200800
#define THRUST_MAJOR_VERSION 2
#define THRUST_MINOR_VERSION 8
#define THRUST_SUBMINOR_VERSION 0
#define THRUST_DEVICE_SYSTEM_CUDA 1
#define THRUST_DEVICE_SYSTEM_HIP 5
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_HIP
#define THRUST_HOST_DEVICE __host__ __device__
#define THRUST_HOST __host__
#define THRUST_DEVICE __device__
#define THRUST_FUNCTION __host__ __device__ __forceinline__
#define THRUST_INLINE_CONSTANT inline constexpr
#define THRUST_NAMESPACE_BEGIN namespace thrust {
#define THRUST_NAMESPACE_END }

namespace thrust {

namespace detail {

struct policy_root {};

template <class T>
inline constexpr bool is_policy = std::is_base_of_v<policy_root, rocm3d_declared::plain_t<T>>;

template <class T>
using if_policy = std::enable_if_t<is_policy<T>>;
template <class T>
using unless_policy = std::enable_if_t<!is_policy<T>>;

}  // namespace detail

struct any_system_tag {};
struct host_system_tag : detail::policy_root {
  static constexpr bool on_device = false;
};
struct device_system_tag : detail::policy_root {
  static constexpr bool on_device = true;
};

template <class Iterator, class = void>
struct iterator_system {
  using type = any_system_tag;
};
template <class T>
struct iterator_system<T*, void> {
  using type = host_system_tag;
};
template <class Iterator>
struct iterator_system<Iterator, std::void_t<typename Iterator::system_type>> {
  using type = typename Iterator::system_type;
};

namespace detail {

template <class T>
inline constexpr bool is_of_device =
    std::is_same_v<typename iterator_system<rocm3d_declared::plain_t<T>>::type, device_system_tag>;

// The system of an algorithm without a policy.
template <class... Arguments>
using system_of = std::conditional_t<(is_of_device<Arguments> || ...), device_system_tag, host_system_tag>;

// On the device system, work that the host starts becomes a kernel; in all other cases it runs in place.
// `result` is what comes back from a kernel.
template <class Policy, class Result, class Work>
__host__ __device__ inline Result perform(const Policy&, Result result, Work work) {
  if constexpr (Policy::on_device) {
#if defined(__HIP_DEVICE_COMPILE__)
    return work();
#else
    (void)rocm3d_declared::on_device(work);
    return result;
#endif
  } else {
    return work();
  }
}

template <class First, class Last>
__host__ __device__ inline auto length(First first, Last last) {
  return last - first;
}

}  // namespace detail

}  // namespace thrust

// The overload of an algorithm that has no policy: the iterators decide.
#define ROCM3D_WITHOUT_POLICY(name)                                                                       \
  template <class First, class... Rest, class = ::thrust::detail::unless_policy<First>>                   \
  __host__ __device__ inline auto name(First first, Rest... rest)                                         \
      ->decltype(name(::thrust::detail::system_of<First, Rest...>{}, first, rest...)) {                   \
    return name(::thrust::detail::system_of<First, Rest...>{}, first, rest...);                           \
  }
