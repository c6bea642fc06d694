#pragma once

#include <thrust/detail/config.h>

namespace thrust {

template <class Derived>
struct execution_policy : detail::policy_root {};

template <class Derived>
struct device_execution_policy : device_system_tag {};
template <class Derived>
struct host_execution_policy : host_system_tag {};

namespace detail {

struct seq_t : host_system_tag {
  template <class Anything>
  __host__ __device__ constexpr const seq_t& operator()(Anything&&) const {
    return *this;
  }
};
struct host_t : host_system_tag {
  template <class Anything>
  __host__ __device__ constexpr const host_t& operator()(Anything&&) const {
    return *this;
  }
};
struct device_t : device_system_tag {
  template <class Anything>
  __host__ __device__ constexpr const device_t& operator()(Anything&&) const {
    return *this;
  }
  __host__ __device__ constexpr const device_t& on(hipStream_t) const { return *this; }
};

}  // namespace detail

inline constexpr detail::seq_t seq{};
inline constexpr detail::host_t host{};
inline constexpr detail::device_t device{};

namespace hip_rocprim {
using tag = device_system_tag;
template <class Derived>
using execution_policy = thrust::device_execution_policy<Derived>;
using par_t = thrust::detail::device_t;
inline constexpr par_t par{};
inline constexpr par_t par_nosync{};
inline constexpr par_t par_det{};
}  // namespace hip_rocprim

namespace hip = hip_rocprim;

namespace system {
namespace hip = thrust::hip_rocprim;
}

}  // namespace thrust
