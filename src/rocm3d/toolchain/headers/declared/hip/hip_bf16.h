#pragma once

#include <hip/hip_runtime.h>
#include <hip/hip_vector_types.h>

#ifdef __cplusplus

struct __hip_bfloat16_raw {
  unsigned short x;
};
struct __hip_bfloat162_raw {
  unsigned short x, y;
};

struct __attribute__((aligned(2))) __hip_bfloat16 {
  unsigned short __x;

  __hip_bfloat16() = default;
  __host__ __device__ constexpr __hip_bfloat16(const __hip_bfloat16_raw& raw) : __x(raw.x) {}
  __host__ __device__ __hip_bfloat16(float value) : __x(rounded(value)) {}
  __host__ __device__ __hip_bfloat16(double value) : __x(rounded(static_cast<float>(value))) {}
  __host__ __device__ __hip_bfloat16(int value) : __x(rounded(static_cast<float>(value))) {}
  __host__ __device__ __hip_bfloat16(unsigned int value) : __x(rounded(static_cast<float>(value))) {}
  __host__ __device__ __hip_bfloat16(long long value) : __x(rounded(static_cast<float>(value))) {}
  __host__ __device__ operator float() const {
    const unsigned int bits = static_cast<unsigned int>(__x) << 16;
    float value = 0;
    __builtin_memcpy(&value, &bits, sizeof(value));
    return value;
  }
  __host__ __device__ operator __hip_bfloat16_raw() const { return {__x}; }

 private:
  __host__ __device__ static unsigned short rounded(float value) {
    unsigned int bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    return static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }
};

struct __attribute__((aligned(4))) __hip_bfloat162 {
  __hip_bfloat16 x, y;

  __hip_bfloat162() = default;
  __host__ __device__ __hip_bfloat162(const __hip_bfloat16& a, const __hip_bfloat16& b) : x(a), y(b) {}
  __host__ __device__ __hip_bfloat162(const __hip_bfloat162_raw& raw)
      : x(__hip_bfloat16_raw{raw.x}), y(__hip_bfloat16_raw{raw.y}) {}
  __host__ __device__ operator __hip_bfloat162_raw() const { return {x.__x, y.__x}; }
};

typedef __hip_bfloat16 __nv_bfloat16;
typedef __hip_bfloat162 __nv_bfloat162;

#define ROCM3D_HD __host__ __device__ inline

ROCM3D_HD float __bfloat162float(__hip_bfloat16 a) { return static_cast<float>(a); }
ROCM3D_HD __hip_bfloat16 __float2bfloat16(float a) { return __hip_bfloat16(a); }
ROCM3D_HD __hip_bfloat16 __float2bfloat16_rn(float a) { return __hip_bfloat16(a); }
ROCM3D_HD __hip_bfloat16 __float2bfloat16_rz(float a) { return __hip_bfloat16(a); }
ROCM3D_HD __hip_bfloat16 __double2bfloat16(double a) { return __hip_bfloat16(a); }
ROCM3D_HD __hip_bfloat16 __int2bfloat16_rn(int a) { return __hip_bfloat16(a); }
ROCM3D_HD int __bfloat162int_rn(__hip_bfloat16 a) { return static_cast<int>(static_cast<float>(a)); }
ROCM3D_HD unsigned short __bfloat16_as_ushort(__hip_bfloat16 a) { return a.__x; }
ROCM3D_HD short __bfloat16_as_short(__hip_bfloat16 a) { return static_cast<short>(a.__x); }
ROCM3D_HD __hip_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __hip_bfloat16_raw{a}; }
ROCM3D_HD __hip_bfloat16 __short_as_bfloat16(short a) { return __hip_bfloat16_raw{static_cast<unsigned short>(a)}; }
ROCM3D_HD __hip_bfloat162 make_bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat162(a, b); }
ROCM3D_HD __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat162(a, b); }
ROCM3D_HD __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 a) { return __hip_bfloat162(a, a); }
ROCM3D_HD __hip_bfloat162 __float2bfloat162_rn(float a) { return __hip_bfloat162(a, a); }
ROCM3D_HD __hip_bfloat162 __floats2bfloat162_rn(float a, float b) { return __hip_bfloat162(a, b); }
ROCM3D_HD __hip_bfloat162 __float22bfloat162_rn(float2 a) { return __hip_bfloat162(a.x, a.y); }
ROCM3D_HD float2 __bfloat1622float2(__hip_bfloat162 a) { return float2{static_cast<float>(a.x), static_cast<float>(a.y)}; }
ROCM3D_HD __hip_bfloat16 __low2bfloat16(__hip_bfloat162 a) { return a.x; }
ROCM3D_HD __hip_bfloat16 __high2bfloat16(__hip_bfloat162 a) { return a.y; }
ROCM3D_HD __hip_bfloat162 __low2bfloat162(__hip_bfloat162 a) { return __hip_bfloat162(a.x, a.x); }
ROCM3D_HD __hip_bfloat162 __high2bfloat162(__hip_bfloat162 a) { return __hip_bfloat162(a.y, a.y); }
ROCM3D_HD float __low2float(__hip_bfloat162 a) { return a.x; }
ROCM3D_HD float __high2float(__hip_bfloat162 a) { return a.y; }
ROCM3D_HD __hip_bfloat162 __lowhigh2highlow(__hip_bfloat162 a) { return __hip_bfloat162(a.y, a.x); }

#define ROCM3D_TWO(one, two, expression)                                                           \
  ROCM3D_HD __hip_bfloat16 one(__hip_bfloat16 p, __hip_bfloat16 q) {                               \
    const float a = p, b = q;                                                                      \
    return __hip_bfloat16(expression);                                                             \
  }                                                                                                \
  ROCM3D_HD __hip_bfloat162 two(__hip_bfloat162 p, __hip_bfloat162 q) {                            \
    return __hip_bfloat162(one(p.x, q.x), one(p.y, q.y));                                          \
  }
ROCM3D_TWO(__hadd, __hadd2, a + b)
ROCM3D_TWO(__hsub, __hsub2, a - b)
ROCM3D_TWO(__hmul, __hmul2, a* b)
ROCM3D_TWO(__hdiv, __h2div, a / b)
ROCM3D_TWO(__hmax, __hmax2, a < b ? b : a)
ROCM3D_TWO(__hmin, __hmin2, a < b ? a : b)
#undef ROCM3D_TWO
#define ROCM3D_TEST(name, sign) \
  ROCM3D_HD bool name(__hip_bfloat16 a, __hip_bfloat16 b) { return static_cast<float>(a) sign static_cast<float>(b); }
ROCM3D_TEST(__heq, ==)
ROCM3D_TEST(__hne, !=)
ROCM3D_TEST(__hlt, <)
ROCM3D_TEST(__hle, <=)
ROCM3D_TEST(__hgt, >)
ROCM3D_TEST(__hge, >=)
#undef ROCM3D_TEST
ROCM3D_HD __hip_bfloat16 __hneg(__hip_bfloat16 a) { return __hip_bfloat16(-static_cast<float>(a)); }
ROCM3D_HD __hip_bfloat162 __hneg2(__hip_bfloat162 a) { return __hip_bfloat162(__hneg(a.x), __hneg(a.y)); }
ROCM3D_HD __hip_bfloat16 __habs(__hip_bfloat16 a) { return static_cast<float>(a) < 0 ? __hneg(a) : a; }
ROCM3D_HD bool __hisnan(__hip_bfloat16 a) { return static_cast<float>(a) != static_cast<float>(a); }
ROCM3D_HD __hip_bfloat16 __hfma(__hip_bfloat16 a, __hip_bfloat16 b, __hip_bfloat16 c) { return __hadd(__hmul(a, b), c); }
ROCM3D_HD __hip_bfloat162 __hfma2(__hip_bfloat162 a, __hip_bfloat162 b, __hip_bfloat162 c) {
  return __hadd2(__hmul2(a, b), c);
}

#define ROCM3D_SIGN(sign, one, two)                                                                        \
  ROCM3D_HD __hip_bfloat16 operator sign(const __hip_bfloat16& a, const __hip_bfloat16& b) { return one(a, b); } \
  ROCM3D_HD __hip_bfloat162 operator sign(const __hip_bfloat162& a, const __hip_bfloat162& b) { return two(a, b); } \
  ROCM3D_HD __hip_bfloat16& operator sign##=(__hip_bfloat16& a, const __hip_bfloat16& b) { return a = one(a, b); } \
  ROCM3D_HD __hip_bfloat162& operator sign##=(__hip_bfloat162& a, const __hip_bfloat162& b) { return a = two(a, b); }
ROCM3D_SIGN(+, __hadd, __hadd2)
ROCM3D_SIGN(-, __hsub, __hsub2)
ROCM3D_SIGN(*, __hmul, __hmul2)
ROCM3D_SIGN(/, __hdiv, __h2div)
#undef ROCM3D_SIGN
ROCM3D_HD __hip_bfloat16 operator-(const __hip_bfloat16& a) { return __hneg(a); }
#define ROCM3D_SIGN(sign, name) \
  ROCM3D_HD bool operator sign(const __hip_bfloat16& a, const __hip_bfloat16& b) { return name(a, b); }
ROCM3D_SIGN(==, __heq)
ROCM3D_SIGN(!=, __hne)
ROCM3D_SIGN(<, __hlt)
ROCM3D_SIGN(<=, __hle)
ROCM3D_SIGN(>, __hgt)
ROCM3D_SIGN(>=, __hge)
#undef ROCM3D_SIGN
#undef ROCM3D_HD

#if defined(__HIPCC__)
__device__ inline __hip_bfloat16 hexp(__hip_bfloat16 a) { return __hip_bfloat16(expf(a)); }
__device__ inline __hip_bfloat16 hlog(__hip_bfloat16 a) { return __hip_bfloat16(logf(a)); }
__device__ inline __hip_bfloat16 hsqrt(__hip_bfloat16 a) { return __hip_bfloat16(sqrtf(a)); }
__device__ inline __hip_bfloat16 hrsqrt(__hip_bfloat16 a) { return __hip_bfloat16(rsqrtf(a)); }
__device__ inline __hip_bfloat16 hrcp(__hip_bfloat16 a) { return __hip_bfloat16(1.0f / static_cast<float>(a)); }
__device__ inline __hip_bfloat16 __ldg(const __hip_bfloat16* place) { return *place; }
__device__ inline __hip_bfloat162 __ldg(const __hip_bfloat162* place) { return *place; }

// In HIP these take a mask; bfloat16 has no shuffle without one.
#define ROCM3D_SHUFFLE(type, name, plain, count)                                                       \
  __device__ inline type name(const unsigned long long, const type value, const count by,              \
                              const int width = warpSize) {                                            \
    int bits = 0;                                                                                      \
    __builtin_memcpy(&bits, &value, sizeof(type));                                                     \
    bits = plain(bits, by, width);                                                                     \
    type moved;                                                                                        \
    __builtin_memcpy(&moved, &bits, sizeof(type));                                                     \
    return moved;                                                                                      \
  }
#define ROCM3D_SHUFFLES(type)                                           \
  ROCM3D_SHUFFLE(type, __shfl_sync, __shfl, int)                        \
  ROCM3D_SHUFFLE(type, __shfl_up_sync, __shfl_up, unsigned int)         \
  ROCM3D_SHUFFLE(type, __shfl_down_sync, __shfl_down, unsigned int)     \
  ROCM3D_SHUFFLE(type, __shfl_xor_sync, __shfl_xor, int)
ROCM3D_SHUFFLES(__hip_bfloat16)
ROCM3D_SHUFFLES(__hip_bfloat162)
#undef ROCM3D_SHUFFLES
#undef ROCM3D_SHUFFLE

__device__ inline __hip_bfloat162 unsafeAtomicAdd(__hip_bfloat162* place, __hip_bfloat162 value) {
  unsigned int* word = reinterpret_cast<unsigned int*>(place);
  unsigned int old = *word, next = 0;
  __hip_bfloat162 before;
  do {
    __builtin_memcpy(&before, &old, sizeof(before));
    const __hip_bfloat162 after = __hadd2(before, value);
    __builtin_memcpy(&next, &after, sizeof(next));
  } while (!__hip_atomic_compare_exchange_strong(word, &old, next, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                 __HIP_MEMORY_SCOPE_AGENT));
  return before;
}
#endif

#endif
