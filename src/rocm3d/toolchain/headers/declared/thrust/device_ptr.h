#pragma once

#include <thrust/device_reference.h>

namespace thrust {

template <class T>
class device_ptr : public detail::iterator_core<device_ptr<T>, std::remove_cv_t<T>, device_reference<T>, device_system_tag> {
 public:
  using element_type = T;
  using raw_pointer = T*;
  using pointer = device_ptr<T>;
  __host__ __device__ constexpr device_ptr() : raw_(nullptr) {}
  __host__ __device__ constexpr device_ptr(std::nullptr_t) : raw_(nullptr) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  __host__ __device__ constexpr explicit device_ptr(U* raw) : raw_(raw) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  __host__ __device__ constexpr device_ptr(const device_ptr<U>& other) : raw_(other.get()) {}
  __host__ __device__ constexpr T* get() const { return raw_; }
  __host__ __device__ constexpr explicit operator bool() const { return raw_ != nullptr; }
  __host__ __device__ constexpr device_reference<T> at(std::ptrdiff_t n) const { return device_reference<T>(raw_ + n); }
  __host__ __device__ constexpr device_ptr moved(std::ptrdiff_t n) const { return device_ptr(raw_ + n); }
  __host__ __device__ constexpr std::ptrdiff_t distance_from(const device_ptr& other) const { return raw_ - other.raw_; }

 private:
  T* raw_;
};

template <>
class device_ptr<void> {
 public:
  __host__ __device__ constexpr explicit device_ptr(void* raw) : raw_(raw) {}
  template <class T>
  __host__ __device__ constexpr explicit operator device_ptr<T>() const {
    return device_ptr<T>(static_cast<T*>(raw_));
  }
  __host__ __device__ constexpr void* get() const { return raw_; }

 private:
  void* raw_;
};

template <class T>
__host__ __device__ constexpr device_ptr<T> device_pointer_cast(T* raw) {
  return device_ptr<T>(raw);
}
template <class T>
__host__ __device__ constexpr device_ptr<T> device_pointer_cast(const device_ptr<T>& pointer) {
  return pointer;
}
template <class T>
__host__ __device__ constexpr T* raw_pointer_cast(T* pointer) {
  return pointer;
}
template <class T>
__host__ __device__ constexpr T* raw_pointer_cast(const device_ptr<T>& pointer) {
  return pointer.get();
}
template <class T>
__host__ __device__ constexpr T& raw_reference_cast(T& given) {
  return given;
}

}  // namespace thrust
