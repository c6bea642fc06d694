#pragma once

#include <thrust/device_ptr.h>

namespace thrust {

template <class T = void>
inline device_ptr<T> device_malloc(std::size_t n) {
  void* raw = nullptr;
  if constexpr (std::is_void_v<T>) {
    (void)hipMalloc(&raw, n);
    return device_ptr<T>(raw);
  } else {
    (void)hipMalloc(&raw, n * sizeof(T));
    return device_ptr<T>(static_cast<T*>(raw));
  }
}
template <class T>
inline void device_free(device_ptr<T> pointer) {
  (void)hipFree(pointer.get());
}

template <class T>
struct device_malloc_allocator {
  using value_type = T;
  using pointer = device_ptr<T>;
  pointer allocate(std::size_t n) { return device_malloc<T>(n); }
  void deallocate(pointer given, std::size_t) { device_free(given); }
};
template <class T>
using device_allocator = device_malloc_allocator<T>;

}  // namespace thrust
