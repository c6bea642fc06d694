#pragma once

#include <cfloat>
#include <cmath>
#include <complex>
#include <limits>
#include <sstream>
#include <thrust/detail/config.h>

namespace thrust {

template <class T>
struct complex {
  using value_type = T;

  __host__ __device__ constexpr complex(const T& re = T(), const T& im = T()) : re_(re), im_(im) {}
  constexpr complex(const complex&) = default;
  template <class U>
  __host__ __device__ constexpr complex(const complex<U>& z) : re_(z.real()), im_(z.imag()) {}
  template <class U>
  __host__ __device__ constexpr complex(const std::complex<U>& z) : re_(z.real()), im_(z.imag()) {}
  constexpr complex& operator=(const complex&) = default;
  __host__ __device__ constexpr complex& operator=(const T& re) { return *this = complex(re); }
  template <class U>
  __host__ __device__ constexpr complex& operator=(const complex<U>& z) {
    return *this = complex(z);
  }
  template <class U>
  __host__ __device__ constexpr complex& operator+=(const U& z) {
    return *this = *this + complex(z);
  }
  template <class U>
  __host__ __device__ constexpr complex& operator-=(const U& z) {
    return *this = *this - complex(z);
  }
  template <class U>
  __host__ __device__ constexpr complex& operator*=(const U& z) {
    return *this = *this * complex(z);
  }
  template <class U>
  __host__ __device__ constexpr complex& operator/=(const U& z) {
    return *this = *this / complex(z);
  }
  __host__ __device__ constexpr T real() const { return re_; }
  __host__ __device__ constexpr T imag() const { return im_; }
  __host__ __device__ constexpr T real() const volatile { return re_; }
  __host__ __device__ constexpr T imag() const volatile { return im_; }
  __host__ __device__ constexpr void real(T re) { re_ = re; }
  __host__ __device__ constexpr void imag(T im) { im_ = im; }
  __host__ __device__ operator std::complex<T>() const { return std::complex<T>(re_, im_); }

 private:
  T re_, im_;
};

template <class A, class B>
using complex_of = complex<std::common_type_t<A, B>>;

#define ROCM3D_BOTH(sign, expression)                                                          \
  template <class A, class B>                                                                  \
  __host__ __device__ constexpr complex_of<A, B> operator sign(const complex<A>& a, const complex<B>& b) { \
    const complex_of<A, B> x(a), y(b);                                                         \
    return expression;                                                                         \
  }                                                                                            \
  template <class A, class B, class = std::enable_if_t<std::is_arithmetic_v<B>>>               \
  __host__ __device__ constexpr complex_of<A, B> operator sign(const complex<A>& a, const B& b) { \
    return a sign complex<B>(b);                                                               \
  }                                                                                            \
  template <class A, class B, class = std::enable_if_t<std::is_arithmetic_v<A>>>               \
  __host__ __device__ constexpr complex_of<A, B> operator sign(const A& a, const complex<B>& b) { \
    return complex<A>(a) sign b;                                                               \
  }

ROCM3D_BOTH(+, (complex_of<A, B>(x.real() + y.real(), x.imag() + y.imag())))
ROCM3D_BOTH(-, (complex_of<A, B>(x.real() - y.real(), x.imag() - y.imag())))
ROCM3D_BOTH(*, (complex_of<A, B>(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real())))
ROCM3D_BOTH(/, (complex_of<A, B>((x.real() * y.real() + x.imag() * y.imag()) / (y.real() * y.real() + y.imag() * y.imag()),
                                 (x.imag() * y.real() - x.real() * y.imag()) / (y.real() * y.real() + y.imag() * y.imag()))))
#undef ROCM3D_BOTH

template <class T>
__host__ __device__ constexpr complex<T> operator+(const complex<T>& z) {
  return z;
}
template <class T>
__host__ __device__ constexpr complex<T> operator-(const complex<T>& z) {
  return complex<T>(-z.real(), -z.imag());
}
template <class A, class B>
__host__ __device__ constexpr bool operator==(const complex<A>& a, const complex<B>& b) {
  return a.real() == b.real() && a.imag() == b.imag();
}
template <class A, class B>
__host__ __device__ constexpr bool operator!=(const complex<A>& a, const complex<B>& b) {
  return !(a == b);
}

template <class T>
__host__ __device__ inline T norm(const complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <class T>
__host__ __device__ inline T abs(const complex<T>& z) {
  return ::sqrt(norm(z));
}
template <class T>
__host__ __device__ inline T arg(const complex<T>& z) {
  return ::atan2(z.imag(), z.real());
}
template <class T>
__host__ __device__ inline complex<T> conj(const complex<T>& z) {
  return complex<T>(z.real(), -z.imag());
}
template <class A, class B = A>
__host__ __device__ inline complex_of<A, B> polar(const A& length, const B& angle = B()) {
  return complex_of<A, B>(length * ::cos(angle), length * ::sin(angle));
}
template <class T>
__host__ __device__ inline complex<T> proj(const complex<T>& z) {
  return z;
}
template <class T>
__host__ __device__ inline complex<T> exp(const complex<T>& z) {
  return polar(T(::exp(z.real())), z.imag());
}
template <class T>
__host__ __device__ inline complex<T> log(const complex<T>& z) {
  return complex<T>(::log(abs(z)), arg(z));
}
template <class T>
__host__ __device__ inline complex<T> log10(const complex<T>& z) {
  return log(z) / T(2.30258509299404568402);
}
template <class T>
__host__ __device__ inline complex<T> sqrt(const complex<T>& z) {
  return polar(T(::sqrt(abs(z))), arg(z) / T(2));
}
template <class A, class B>
__host__ __device__ inline complex_of<A, B> pow(const complex<A>& z, const complex<B>& power) {
  return exp(log(complex_of<A, B>(z)) * complex_of<A, B>(power));
}
template <class A, class B, class = std::enable_if_t<std::is_arithmetic_v<B>>>
__host__ __device__ inline complex_of<A, B> pow(const complex<A>& z, const B& power) {
  return pow(z, complex<B>(power));
}
template <class A, class B, class = std::enable_if_t<std::is_arithmetic_v<A>>>
__host__ __device__ inline complex_of<A, B> pow(const A& z, const complex<B>& power) {
  return pow(complex<A>(z), power);
}
template <class T>
__host__ __device__ inline complex<T> sinh(const complex<T>& z) {
  return (exp(z) - exp(-z)) / T(2);
}
template <class T>
__host__ __device__ inline complex<T> cosh(const complex<T>& z) {
  return (exp(z) + exp(-z)) / T(2);
}
template <class T>
__host__ __device__ inline complex<T> tanh(const complex<T>& z) {
  return sinh(z) / cosh(z);
}
template <class T>
__host__ __device__ inline complex<T> sin(const complex<T>& z) {
  const complex<T> turned = sinh(complex<T>(-z.imag(), z.real()));
  return complex<T>(turned.imag(), -turned.real());
}
template <class T>
__host__ __device__ inline complex<T> cos(const complex<T>& z) {
  return cosh(complex<T>(-z.imag(), z.real()));
}
template <class T>
__host__ __device__ inline complex<T> tan(const complex<T>& z) {
  return sin(z) / cos(z);
}
template <class T>
__host__ __device__ inline complex<T> asinh(const complex<T>& z) {
  return log(z + sqrt(z * z + T(1)));
}
template <class T>
__host__ __device__ inline complex<T> acosh(const complex<T>& z) {
  return log(z + sqrt(z * z - T(1)));
}
template <class T>
__host__ __device__ inline complex<T> atanh(const complex<T>& z) {
  return log((T(1) + z) / (T(1) - z)) / T(2);
}
template <class T>
__host__ __device__ inline complex<T> asin(const complex<T>& z) {
  const complex<T> turned = asinh(complex<T>(-z.imag(), z.real()));
  return complex<T>(turned.imag(), -turned.real());
}
template <class T>
__host__ __device__ inline complex<T> acos(const complex<T>& z) {
  return complex<T>(T(1.57079632679489661923)) - asin(z);
}
template <class T>
__host__ __device__ inline complex<T> atan(const complex<T>& z) {
  const complex<T> turned = atanh(complex<T>(-z.imag(), z.real()));
  return complex<T>(turned.imag(), -turned.real());
}

template <class T, class Char, class Traits>
inline std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& stream, const complex<T>& z) {
  return stream << '(' << z.real() << ',' << z.imag() << ')';
}

}  // namespace thrust
