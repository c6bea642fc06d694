#pragma once

#include <thrust/iterator/iterator_traits.h>

namespace thrust {

namespace detail {
template <class Function, class Output>
struct transformed_output {
  Function function;
  Output output;
  template <class Value>
  __host__ __device__ const transformed_output& operator=(const Value& value) const {
    *output = function(value);
    return *this;
  }
};
}  // namespace detail

template <class Function, class Output>
class transform_output_iterator
    : public detail::iterator_core<transform_output_iterator<Function, Output>, detail::transformed_output<Function, Output>,
                                   detail::transformed_output<Function, Output>, detail::system_t<Output>> {
 public:
  __host__ __device__ transform_output_iterator(Output output, Function function) : output_(output), function_(function) {}
  __host__ __device__ detail::transformed_output<Function, Output> at(std::ptrdiff_t n) const {
    return {function_, output_ + n};
  }
  __host__ __device__ transform_output_iterator moved(std::ptrdiff_t n) const {
    return transform_output_iterator(output_ + n, function_);
  }
  __host__ __device__ std::ptrdiff_t distance_from(const transform_output_iterator& other) const {
    return output_ - other.output_;
  }

 private:
  Output output_;
  Function function_;
};

template <class Function, class Output>
__host__ __device__ transform_output_iterator<Function, Output> make_transform_output_iterator(Output output,
                                                                                               Function function) {
  return transform_output_iterator<Function, Output>(output, function);
}

}  // namespace thrust
