// Runs the work of the declared libraries in a kernel or on the host.
#pragma once

#include <cstddef>
#include <hip/hip_runtime.h>
#include <iterator>
#include <type_traits>
#include <utility>

#define ROCM3D_DECLARED_HEADERS 1

namespace rocm3d_declared {

// Everything that the work calls is compiled for the device.
template <class Work>
__global__ void device_work(Work work) {
  work();
}

template <class Work>
inline hipError_t on_device(Work work, hipStream_t stream = nullptr) {
  device_work<<<dim3(1), dim3(1), 0, stream>>>(work);
  return hipGetLastError();
}

template <class Iterator>
using value_t = typename std::iterator_traits<Iterator>::value_type;

template <class T>
using plain_t = std::remove_cv_t<std::remove_reference_t<T>>;

// The result type of a call, also of a device-only functor: a host-device body is checked only where it is used.
template <class Function, class... Arguments>
__host__ __device__ inline decltype(auto) called(Function&& function, Arguments&&... arguments) {
  return function(static_cast<Arguments&&>(arguments)...);
}
template <class Function, class... Arguments>
using called_t = decltype(called(std::declval<Function>(), std::declval<Arguments>()...));

}  // namespace rocm3d_declared
