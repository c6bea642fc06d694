// The fp16 header of an older HIP, with the additions of newer releases.
#pragma once

#include_next <hip/hip_fp16.h>

#if defined(__cplusplus) && defined(__HIPCC__)

#define ROCM3D_SHUFFLE(type, name, count)                                   \
  __device__ inline type name(type value, count by, int width = warpSize) { \
    int bits = 0;                                                           \
    __builtin_memcpy(&bits, &value, sizeof(type));                          \
    bits = name(bits, by, width);                                           \
    __builtin_memcpy(&value, &bits, sizeof(type));                          \
    return value;                                                           \
  }
#define ROCM3D_SHUFFLES(type)                   \
  ROCM3D_SHUFFLE(type, __shfl, int)             \
  ROCM3D_SHUFFLE(type, __shfl_up, unsigned int) \
  ROCM3D_SHUFFLE(type, __shfl_down, unsigned int) \
  ROCM3D_SHUFFLE(type, __shfl_xor, int)
ROCM3D_SHUFFLES(__half)
ROCM3D_SHUFFLES(__half2)
#undef ROCM3D_SHUFFLES
#undef ROCM3D_SHUFFLE

__host__ __device__ inline __half __hmax(__half a, __half b) { return __half2float(a) < __half2float(b) ? b : a; }
__host__ __device__ inline __half __hmin(__half a, __half b) { return __half2float(a) < __half2float(b) ? a : b; }
__host__ __device__ inline __half __hmax_nan(__half a, __half b) { return __hmax(a, b); }
__host__ __device__ inline __half __hmin_nan(__half a, __half b) { return __hmin(a, b); }

__device__ inline __half2 unsafeAtomicAdd(__half2* place, __half2 value) {
  unsigned int* word = reinterpret_cast<unsigned int*>(place);
  unsigned int old = *word, next = 0;
  __half2 before;
  do {
    __builtin_memcpy(&before, &old, sizeof(before));
    const __half2 after = __hadd2(before, value);
    __builtin_memcpy(&next, &after, sizeof(next));
  } while (!__hip_atomic_compare_exchange_strong(word, &old, next, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                 __HIP_MEMORY_SCOPE_AGENT));
  return before;
}

#endif
