#pragma once

#include <hip/hip_complex.h>
#include <hip/hip_runtime_api.h>
#include <hip/library_types.h>
#include <stdint.h>

#if __has_include(<hipblas-common/hipblas-common.h>)
#include <hipblas-common/hipblas-common.h>
#else
typedef enum {
  HIPBLAS_STATUS_SUCCESS = 0, HIPBLAS_STATUS_NOT_INITIALIZED = 1, HIPBLAS_STATUS_ALLOC_FAILED = 2,
  HIPBLAS_STATUS_INVALID_VALUE = 3, HIPBLAS_STATUS_MAPPING_ERROR = 4, HIPBLAS_STATUS_EXECUTION_FAILED = 5,
  HIPBLAS_STATUS_INTERNAL_ERROR = 6, HIPBLAS_STATUS_NOT_SUPPORTED = 7, HIPBLAS_STATUS_ARCH_MISMATCH = 8,
  HIPBLAS_STATUS_HANDLE_IS_NULLPTR = 9, HIPBLAS_STATUS_INVALID_ENUM = 10, HIPBLAS_STATUS_UNKNOWN = 11
} hipblasStatus_t;
typedef enum { HIPBLAS_OP_N = 111, HIPBLAS_OP_T = 112, HIPBLAS_OP_C = 113 } hipblasOperation_t;
typedef enum {
  HIPBLAS_COMPUTE_16F = 0, HIPBLAS_COMPUTE_16F_PEDANTIC, HIPBLAS_COMPUTE_32F, HIPBLAS_COMPUTE_32F_PEDANTIC,
  HIPBLAS_COMPUTE_32F_FAST_16F, HIPBLAS_COMPUTE_32F_FAST_16BF, HIPBLAS_COMPUTE_32F_FAST_TF32, HIPBLAS_COMPUTE_64F,
  HIPBLAS_COMPUTE_64F_PEDANTIC, HIPBLAS_COMPUTE_32I, HIPBLAS_COMPUTE_32I_PEDANTIC
} hipblasComputeType_t;
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef void* hipblasHandle_t;
typedef uint16_t hipblasHalf;
typedef int64_t hipblasStride;
typedef struct hipblasBfloat16 {
  uint16_t data;
} hipblasBfloat16;
typedef hipDataType hipblasDatatype_t;
typedef enum { HIPBLAS_POINTER_MODE_HOST, HIPBLAS_POINTER_MODE_DEVICE } hipblasPointerMode_t;
typedef enum { HIPBLAS_FILL_MODE_UPPER = 121, HIPBLAS_FILL_MODE_LOWER = 122, HIPBLAS_FILL_MODE_FULL = 123 } hipblasFillMode_t;
typedef enum { HIPBLAS_DIAG_NON_UNIT = 131, HIPBLAS_DIAG_UNIT = 132 } hipblasDiagType_t;
typedef enum { HIPBLAS_SIDE_LEFT = 141, HIPBLAS_SIDE_RIGHT = 142, HIPBLAS_SIDE_BOTH = 143 } hipblasSideMode_t;
typedef enum { HIPBLAS_GEMM_DEFAULT = 160 } hipblasGemmAlgo_t;
typedef enum { HIPBLAS_ATOMICS_NOT_ALLOWED = 0, HIPBLAS_ATOMICS_ALLOWED = 1 } hipblasAtomicsMode_t;
typedef enum { HIPBLAS_DEFAULT_MATH = 0, HIPBLAS_TF32_TENSOR_OP_MATH = 1 } hipblasMath_t;

hipblasStatus_t hipblasCreate(hipblasHandle_t* handle);
hipblasStatus_t hipblasDestroy(hipblasHandle_t handle);
hipblasStatus_t hipblasSetStream(hipblasHandle_t handle, hipStream_t stream);
hipblasStatus_t hipblasGetStream(hipblasHandle_t handle, hipStream_t* stream);
hipblasStatus_t hipblasSetPointerMode(hipblasHandle_t handle, hipblasPointerMode_t mode);
hipblasStatus_t hipblasGetPointerMode(hipblasHandle_t handle, hipblasPointerMode_t* mode);
hipblasStatus_t hipblasSetAtomicsMode(hipblasHandle_t handle, hipblasAtomicsMode_t mode);
hipblasStatus_t hipblasSetMathMode(hipblasHandle_t handle, hipblasMath_t mode);
hipblasStatus_t hipblasSetWorkspace(hipblasHandle_t handle, void* workspace, size_t bytes);
const char* hipblasStatusToString(hipblasStatus_t status);

#define ROCM3D_BLAS(letter, type)                                                                                       \
  hipblasStatus_t hipblas##letter##gemm(hipblasHandle_t, hipblasOperation_t, hipblasOperation_t, int, int, int,         \
                                        const type*, const type*, int, const type*, int, const type*, type*, int);      \
  hipblasStatus_t hipblas##letter##gemmBatched(hipblasHandle_t, hipblasOperation_t, hipblasOperation_t, int, int, int,  \
                                               const type*, const type* const[], int, const type* const[], int,         \
                                               const type*, type* const[], int, int);                                   \
  hipblasStatus_t hipblas##letter##gemmStridedBatched(                                                                  \
      hipblasHandle_t, hipblasOperation_t, hipblasOperation_t, int, int, int, const type*, const type*, int, long long, \
      const type*, int, long long, const type*, type*, int, long long, int);
#define ROCM3D_BLAS_ONE(letter, type)                                                                               \
  ROCM3D_BLAS(letter, type)                                                                                         \
  hipblasStatus_t hipblas##letter##gemv(hipblasHandle_t, hipblasOperation_t, int, int, const type*, const type*,    \
                                        int, const type*, int, const type*, type*, int);                            \
  hipblasStatus_t hipblas##letter##ger(hipblasHandle_t, int, int, const type*, const type*, int, const type*, int,  \
                                       type*, int);                                                                 \
  hipblasStatus_t hipblas##letter##axpy(hipblasHandle_t, int, const type*, const type*, int, type*, int);           \
  hipblasStatus_t hipblas##letter##copy(hipblasHandle_t, int, const type*, int, type*, int);                        \
  hipblasStatus_t hipblas##letter##scal(hipblasHandle_t, int, const type*, type*, int);                             \
  hipblasStatus_t hipblas##letter##dot(hipblasHandle_t, int, const type*, int, const type*, int, type*);            \
  hipblasStatus_t hipblas##letter##nrm2(hipblasHandle_t, int, const type*, int, type*);                             \
  hipblasStatus_t hipblas##letter##asum(hipblasHandle_t, int, const type*, int, type*);                             \
  hipblasStatus_t hipblas##letter##geam(hipblasHandle_t, hipblasOperation_t, hipblasOperation_t, int, int,          \
                                        const type*, const type*, int, const type*, const type*, int, type*, int);  \
  hipblasStatus_t hipblas##letter##trsm(hipblasHandle_t, hipblasSideMode_t, hipblasFillMode_t, hipblasOperation_t,  \
                                        hipblasDiagType_t, int, int, const type*, const type*, int, type*, int);    \
  hipblasStatus_t hipblasI##letter##amax(hipblasHandle_t, int, const type*, int, int*);

ROCM3D_BLAS(H, hipblasHalf)
ROCM3D_BLAS_ONE(S, float)
ROCM3D_BLAS_ONE(D, double)
ROCM3D_BLAS(C, hipComplex)
ROCM3D_BLAS(Z, hipDoubleComplex)
#undef ROCM3D_BLAS
#undef ROCM3D_BLAS_ONE

hipblasStatus_t hipblasGemmEx(hipblasHandle_t, hipblasOperation_t, hipblasOperation_t, int, int, int, const void*,
                              const void*, hipDataType, int, const void*, hipDataType, int, const void*, void*, hipDataType,
                              int, hipblasComputeType_t, hipblasGemmAlgo_t);
hipblasStatus_t hipblasGemmStridedBatchedEx(hipblasHandle_t, hipblasOperation_t, hipblasOperation_t, int, int, int,
                                            const void*, const void*, hipDataType, int, hipblasStride, const void*,
                                            hipDataType, int, hipblasStride, const void*, void*, hipDataType, int,
                                            hipblasStride, int, hipblasComputeType_t, hipblasGemmAlgo_t);
hipblasStatus_t hipblasGemmBatchedEx(hipblasHandle_t, hipblasOperation_t, hipblasOperation_t, int, int, int, const void*,
                                     const void* const[], hipDataType, int, const void* const[], hipDataType, int,
                                     const void*, void* const[], hipDataType, int, int, hipblasComputeType_t,
                                     hipblasGemmAlgo_t);

#ifdef __cplusplus
}
#endif
