#pragma once

#include <thrust/detail/config.h>

namespace thrust {
namespace random {

template <class Unsigned, Unsigned a, Unsigned c, Unsigned m>
class linear_congruential_engine {
 public:
  using result_type = Unsigned;
  __host__ __device__ explicit linear_congruential_engine(Unsigned seed = 1) : state_(seed) {}
  __host__ __device__ Unsigned operator()() { return state_ = (state_ * a + c) % (m == 0 ? Unsigned(-1) : m); }
  __host__ __device__ void discard(unsigned long long n) {
    while (n-- > 0) (*this)();
  }
  __host__ __device__ void seed(Unsigned given) { state_ = given; }
  static constexpr Unsigned min = c == 0 ? 1 : 0;
  static constexpr Unsigned max = m - 1;

 private:
  Unsigned state_;
};
using minstd_rand0 = linear_congruential_engine<unsigned int, 16807, 0, 2147483647>;
using minstd_rand = linear_congruential_engine<unsigned int, 48271, 0, 2147483647>;
using default_random_engine = minstd_rand;

template <class Real = double>
class uniform_real_distribution {
 public:
  using result_type = Real;
  __host__ __device__ explicit uniform_real_distribution(Real a = 0, Real b = 1) : a_(a), b_(b) {}
  template <class Engine>
  __host__ __device__ Real operator()(Engine& engine) {
    return a_ + (b_ - a_) * (static_cast<Real>(engine()) / static_cast<Real>(Engine::max));
  }

 private:
  Real a_, b_;
};
template <class Integer = int>
class uniform_int_distribution {
 public:
  using result_type = Integer;
  __host__ __device__ explicit uniform_int_distribution(Integer a = 0, Integer b = 0) : a_(a), b_(b) {}
  template <class Engine>
  __host__ __device__ Integer operator()(Engine& engine) {
    return a_ + static_cast<Integer>(engine() % (b_ - a_ + 1));
  }

 private:
  Integer a_, b_;
};
template <class Real = double>
class normal_distribution {
 public:
  using result_type = Real;
  __host__ __device__ explicit normal_distribution(Real mean = 0, Real deviation = 1) : mean_(mean), deviation_(deviation) {}
  template <class Engine>
  __host__ __device__ Real operator()(Engine& engine) {
    return mean_ + deviation_ * static_cast<Real>(engine());
  }

 private:
  Real mean_, deviation_;
};

}  // namespace random

using random::default_random_engine;
using random::minstd_rand;
using random::minstd_rand0;
using random::normal_distribution;
using random::uniform_int_distribution;
using random::uniform_real_distribution;

}  // namespace thrust
