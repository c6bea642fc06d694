#pragma once

#include <thrust/tuple.h>

namespace thrust {

template <class Function>
class zip_function {
 public:
  __host__ __device__ zip_function(Function function) : function_(function) {}
  template <class... Ts>
  __host__ __device__ decltype(auto) operator()(const tuple<Ts...>& given) const {
    return call(given, std::index_sequence_for<Ts...>{});
  }

 private:
  template <class Tuple, std::size_t... Is>
  __host__ __device__ decltype(auto) call(const Tuple& given, std::index_sequence<Is...>) const {
    return function_(get<Is>(given)...);
  }
  Function function_;
};
template <class Function>
__host__ __device__ zip_function<std::decay_t<Function>> make_zip_function(Function&& function) {
  return zip_function<std::decay_t<Function>>(static_cast<Function&&>(function));
}

}  // namespace thrust
