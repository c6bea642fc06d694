#pragma once

#include <hip/hip_complex.h>
#include <hip/hip_runtime_api.h>
#include <hip/library_types.h>
#include <hipblas/hipblas.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void* hipsolverHandle_t;
typedef void* hipsolverDnHandle_t;
typedef void* hipsolverDnParams_t;
typedef void* hipsolverSyevjInfo_t;
typedef void* hipsolverGesvdjInfo_t;
typedef hipblasOperation_t hipsolverOperation_t;
typedef hipblasFillMode_t hipsolverFillMode_t;
typedef hipblasSideMode_t hipsolverSideMode_t;
typedef enum { HIPSOLVER_EIG_MODE_NOVECTOR = 201, HIPSOLVER_EIG_MODE_VECTOR = 202 } hipsolverEigMode_t;
typedef enum {
  HIPSOLVER_STATUS_SUCCESS = 0, HIPSOLVER_STATUS_NOT_INITIALIZED = 1, HIPSOLVER_STATUS_ALLOC_FAILED = 2,
  HIPSOLVER_STATUS_INVALID_VALUE = 3, HIPSOLVER_STATUS_MAPPING_ERROR = 4, HIPSOLVER_STATUS_EXECUTION_FAILED = 5,
  HIPSOLVER_STATUS_INTERNAL_ERROR = 6, HIPSOLVER_STATUS_NOT_SUPPORTED = 7, HIPSOLVER_STATUS_ARCH_MISMATCH = 8,
  HIPSOLVER_STATUS_HANDLE_IS_NULLPTR = 9, HIPSOLVER_STATUS_INVALID_ENUM = 10, HIPSOLVER_STATUS_UNKNOWN = 11,
  HIPSOLVER_STATUS_ZERO_PIVOT = 12
} hipsolverStatus_t;

hipsolverStatus_t hipsolverCreate(hipsolverHandle_t*);
hipsolverStatus_t hipsolverDestroy(hipsolverHandle_t);
hipsolverStatus_t hipsolverSetStream(hipsolverHandle_t, hipStream_t);
hipsolverStatus_t hipsolverDnCreate(hipsolverDnHandle_t*);
hipsolverStatus_t hipsolverDnDestroy(hipsolverDnHandle_t);
hipsolverStatus_t hipsolverDnSetStream(hipsolverDnHandle_t, hipStream_t);

#define ROCM3D_SOLVER(letter, type)                                                                                    \
  hipsolverStatus_t hipsolverDn##letter##potrf_bufferSize(hipsolverDnHandle_t, hipsolverFillMode_t, int, type*, int,   \
                                                          int*);                                                       \
  hipsolverStatus_t hipsolverDn##letter##potrf(hipsolverDnHandle_t, hipsolverFillMode_t, int, type*, int, type*, int,  \
                                               int*);                                                                  \
  hipsolverStatus_t hipsolverDn##letter##potrs(hipsolverDnHandle_t, hipsolverFillMode_t, int, int, const type*, int,   \
                                               type*, int, int*);                                                      \
  hipsolverStatus_t hipsolverDn##letter##getrf_bufferSize(hipsolverDnHandle_t, int, int, type*, int, int*);            \
  hipsolverStatus_t hipsolverDn##letter##getrf(hipsolverDnHandle_t, int, int, type*, int, type*, int*, int*);          \
  hipsolverStatus_t hipsolverDn##letter##getrs(hipsolverDnHandle_t, hipsolverOperation_t, int, int, const type*, int,  \
                                               const int*, type*, int, int*);
ROCM3D_SOLVER(S, float)
ROCM3D_SOLVER(D, double)
#undef ROCM3D_SOLVER

#ifdef __cplusplus
}
#endif
