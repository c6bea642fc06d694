#pragma once

#include <thrust/iterator/iterator_traits.h>

namespace thrust {

template <class T>
class device_ptr;

// A reference to device memory: the host reads and writes it by copying, the device directly.
template <class T>
class device_reference {
  using value_type = std::remove_cv_t<T>;

 public:
  __host__ __device__ constexpr explicit device_reference(T* raw) : raw_(raw) {}
  constexpr device_reference(const device_reference&) = default;
  __host__ __device__ operator value_type() const {
#if defined(__HIP_DEVICE_COMPILE__)
    return *raw_;
#else
    value_type value;
    (void)hipMemcpy(&value, raw_, sizeof(value), hipMemcpyDeviceToHost);
    return value;
#endif
  }
  __host__ __device__ const device_reference& operator=(const value_type& value) const {
#if defined(__HIP_DEVICE_COMPILE__)
    *raw_ = value;
#else
    (void)hipMemcpy(const_cast<value_type*>(raw_), &value, sizeof(value), hipMemcpyHostToDevice);
#endif
    return *this;
  }
  __host__ __device__ const device_reference& operator=(const device_reference& other) const {
    return *this = static_cast<value_type>(other);
  }
  __host__ __device__ device_ptr<T> operator&() const { return device_ptr<T>(raw_); }
  template <class U>
  __host__ __device__ const device_reference& operator+=(const U& other) const {
    return *this = static_cast<value_type>(*this) + other;
  }
  template <class U>
  __host__ __device__ const device_reference& operator-=(const U& other) const {
    return *this = static_cast<value_type>(*this) - other;
  }

 private:
  T* raw_;
};

}  // namespace thrust

#include <thrust/device_ptr.h>
