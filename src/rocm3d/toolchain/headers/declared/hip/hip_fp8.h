#pragma once

#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>

#ifdef __cplusplus

typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;
enum __hip_fp8_interpretation_t { __HIP_E4M3, __HIP_E5M2, __HIP_E4M3_FNUZ, __HIP_E5M2_FNUZ };
enum __hip_saturation_t { __HIP_NOSAT, __HIP_SATFINITE };

__host__ __device__ inline __hip_fp8_storage_t __hip_cvt_float_to_fp8(const float value, const __hip_saturation_t,
                                                                      const __hip_fp8_interpretation_t) {
  return static_cast<__hip_fp8_storage_t>(value);
}

#define ROCM3D_FP8(name)                                                                                   \
  struct name {                                                                                            \
    __hip_fp8_storage_t __x;                                                                               \
    name() = default;                                                                                      \
    __host__ __device__ explicit name(float value) : __x(static_cast<__hip_fp8_storage_t>(value)) {}       \
    __host__ __device__ explicit name(double value) : __x(static_cast<__hip_fp8_storage_t>(value)) {}      \
    __host__ __device__ explicit name(__half value) : name(__half2float(value)) {}                         \
    __host__ __device__ explicit name(__hip_bfloat16 value) : name(static_cast<float>(value)) {}           \
    __host__ __device__ operator float() const { return static_cast<float>(__x); }                         \
  };
ROCM3D_FP8(__hip_fp8_e4m3)
ROCM3D_FP8(__hip_fp8_e5m2)
ROCM3D_FP8(__hip_fp8_e4m3_fnuz)
ROCM3D_FP8(__hip_fp8_e5m2_fnuz)
#undef ROCM3D_FP8

#endif
