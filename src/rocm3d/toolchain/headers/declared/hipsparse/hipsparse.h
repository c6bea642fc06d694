#pragma once

#include <hip/hip_complex.h>
#include <hip/hip_runtime_api.h>
#include <hip/library_types.h>
#include <hipsparse/hipsparse-version.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void* hipsparseHandle_t;
typedef void* hipsparseMatDescr_t;
typedef void* hipsparseSpMatDescr_t;
typedef void* hipsparseDnMatDescr_t;
typedef void* hipsparseSpVecDescr_t;
typedef void* hipsparseDnVecDescr_t;
typedef const void* hipsparseConstSpMatDescr_t;
typedef const void* hipsparseConstDnMatDescr_t;
typedef const void* hipsparseConstSpVecDescr_t;
typedef const void* hipsparseConstDnVecDescr_t;
typedef void* bsrsv2Info_t;
typedef void* bsrsm2Info_t;
typedef struct csrgemm2Info* csrgemm2Info_t;
typedef struct hipsparseSpGEMMDescr* hipsparseSpGEMMDescr_t;
typedef struct hipsparseSpSVDescr* hipsparseSpSVDescr_t;
typedef struct hipsparseSpSMDescr* hipsparseSpSMDescr_t;

typedef enum {
  HIPSPARSE_STATUS_SUCCESS = 0, HIPSPARSE_STATUS_NOT_INITIALIZED = 1, HIPSPARSE_STATUS_ALLOC_FAILED = 2,
  HIPSPARSE_STATUS_INVALID_VALUE = 3, HIPSPARSE_STATUS_ARCH_MISMATCH = 4, HIPSPARSE_STATUS_MAPPING_ERROR = 5,
  HIPSPARSE_STATUS_EXECUTION_FAILED = 6, HIPSPARSE_STATUS_INTERNAL_ERROR = 7,
  HIPSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8, HIPSPARSE_STATUS_ZERO_PIVOT = 9, HIPSPARSE_STATUS_NOT_SUPPORTED = 10,
  HIPSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11
} hipsparseStatus_t;
typedef enum {
  HIPSPARSE_OPERATION_NON_TRANSPOSE = 0, HIPSPARSE_OPERATION_TRANSPOSE = 1, HIPSPARSE_OPERATION_CONJUGATE_TRANSPOSE = 2
} hipsparseOperation_t;
typedef enum { HIPSPARSE_INDEX_BASE_ZERO = 0, HIPSPARSE_INDEX_BASE_ONE = 1 } hipsparseIndexBase_t;
typedef enum { HIPSPARSE_INDEX_16U = 1, HIPSPARSE_INDEX_32I = 2, HIPSPARSE_INDEX_64I = 3 } hipsparseIndexType_t;
typedef enum { HIPSPARSE_ORDER_ROW = 0, HIPSPARSE_ORDER_COL = 1 } hipsparseOrder_t;
typedef enum { HIPSPARSE_POINTER_MODE_HOST = 0, HIPSPARSE_POINTER_MODE_DEVICE = 1 } hipsparsePointerMode_t;
typedef enum { HIPSPARSE_DIRECTION_ROW = 0, HIPSPARSE_DIRECTION_COLUMN = 1 } hipsparseDirection_t;
typedef enum { HIPSPARSE_FILL_MODE_LOWER = 0, HIPSPARSE_FILL_MODE_UPPER = 1 } hipsparseFillMode_t;
typedef enum { HIPSPARSE_DIAG_TYPE_NON_UNIT = 0, HIPSPARSE_DIAG_TYPE_UNIT = 1 } hipsparseDiagType_t;
typedef enum { HIPSPARSE_SOLVE_POLICY_NO_LEVEL = 0, HIPSPARSE_SOLVE_POLICY_USE_LEVEL = 1 } hipsparseSolvePolicy_t;
typedef enum {
  HIPSPARSE_MATRIX_TYPE_GENERAL = 0, HIPSPARSE_MATRIX_TYPE_SYMMETRIC = 1, HIPSPARSE_MATRIX_TYPE_HERMITIAN = 2,
  HIPSPARSE_MATRIX_TYPE_TRIANGULAR = 3
} hipsparseMatrixType_t;
typedef enum {
  HIPSPARSE_MM_ALG_DEFAULT = 0, HIPSPARSE_SPMM_ALG_DEFAULT = 0, HIPSPARSE_COOMM_ALG1 = 1, HIPSPARSE_SPMM_COO_ALG1 = 1,
  HIPSPARSE_COOMM_ALG2 = 2, HIPSPARSE_SPMM_COO_ALG2 = 2, HIPSPARSE_COOMM_ALG3 = 3, HIPSPARSE_SPMM_COO_ALG3 = 3,
  HIPSPARSE_CSRMM_ALG1 = 4, HIPSPARSE_SPMM_CSR_ALG1 = 4, HIPSPARSE_SPMM_COO_ALG4 = 5, HIPSPARSE_SPMM_CSR_ALG2 = 6
} hipsparseSpMMAlg_t;
typedef enum { HIPSPARSE_SPMV_ALG_DEFAULT = 0, HIPSPARSE_SPMV_CSR_ALG1 = 2 } hipsparseSpMVAlg_t;
typedef enum { HIPSPARSE_SPGEMM_DEFAULT = 0 } hipsparseSpGEMMAlg_t;

hipsparseStatus_t hipsparseCreate(hipsparseHandle_t*);
hipsparseStatus_t hipsparseDestroy(hipsparseHandle_t);
hipsparseStatus_t hipsparseSetStream(hipsparseHandle_t, hipStream_t);
hipsparseStatus_t hipsparseGetStream(hipsparseHandle_t, hipStream_t*);
hipsparseStatus_t hipsparseSetPointerMode(hipsparseHandle_t, hipsparsePointerMode_t);
const char* hipsparseGetErrorString(hipsparseStatus_t);
const char* hipsparseGetErrorName(hipsparseStatus_t);
hipsparseStatus_t hipsparseCreateMatDescr(hipsparseMatDescr_t*);
hipsparseStatus_t hipsparseDestroyMatDescr(hipsparseMatDescr_t);
hipsparseStatus_t hipsparseSetMatType(hipsparseMatDescr_t, hipsparseMatrixType_t);
hipsparseStatus_t hipsparseSetMatIndexBase(hipsparseMatDescr_t, hipsparseIndexBase_t);
hipsparseStatus_t hipsparseCreateCoo(hipsparseSpMatDescr_t*, int64_t, int64_t, int64_t, void*, void*, void*,
                                     hipsparseIndexType_t, hipsparseIndexBase_t, hipDataType);
hipsparseStatus_t hipsparseCreateCsr(hipsparseSpMatDescr_t*, int64_t, int64_t, int64_t, void*, void*, void*,
                                     hipsparseIndexType_t, hipsparseIndexType_t, hipsparseIndexBase_t, hipDataType);
hipsparseStatus_t hipsparseDestroySpMat(hipsparseConstSpMatDescr_t);
hipsparseStatus_t hipsparseCreateDnMat(hipsparseDnMatDescr_t*, int64_t, int64_t, int64_t, void*, hipDataType,
                                       hipsparseOrder_t);
hipsparseStatus_t hipsparseDestroyDnMat(hipsparseConstDnMatDescr_t);
hipsparseStatus_t hipsparseCreateDnVec(hipsparseDnVecDescr_t*, int64_t, void*, hipDataType);
hipsparseStatus_t hipsparseDestroyDnVec(hipsparseConstDnVecDescr_t);
hipsparseStatus_t hipsparseSpMM_bufferSize(hipsparseHandle_t, hipsparseOperation_t, hipsparseOperation_t, const void*,
                                           hipsparseConstSpMatDescr_t, hipsparseConstDnMatDescr_t, const void*,
                                           const hipsparseDnMatDescr_t, hipDataType, hipsparseSpMMAlg_t, size_t*);
hipsparseStatus_t hipsparseSpMM(hipsparseHandle_t, hipsparseOperation_t, hipsparseOperation_t, const void*,
                                hipsparseConstSpMatDescr_t, hipsparseConstDnMatDescr_t, const void*,
                                const hipsparseDnMatDescr_t, hipDataType, hipsparseSpMMAlg_t, void*);
hipsparseStatus_t hipsparseSpMV_bufferSize(hipsparseHandle_t, hipsparseOperation_t, const void*, hipsparseConstSpMatDescr_t,
                                           hipsparseConstDnVecDescr_t, const void*, const hipsparseDnVecDescr_t, hipDataType,
                                           hipsparseSpMVAlg_t, size_t*);
hipsparseStatus_t hipsparseSpMV(hipsparseHandle_t, hipsparseOperation_t, const void*, hipsparseConstSpMatDescr_t,
                                hipsparseConstDnVecDescr_t, const void*, const hipsparseDnVecDescr_t, hipDataType,
                                hipsparseSpMVAlg_t, void*);
hipsparseStatus_t hipsparseXcoosort_bufferSizeExt(hipsparseHandle_t, int, int, int, const int*, const int*, size_t*);
hipsparseStatus_t hipsparseXcoosortByRow(hipsparseHandle_t, int, int, int, int*, int*, int*, void*);
hipsparseStatus_t hipsparseXcoo2csr(hipsparseHandle_t, const int*, int, int, int*, hipsparseIndexBase_t);
hipsparseStatus_t hipsparseCreateIdentityPermutation(hipsparseHandle_t, int, int*);
hipsparseStatus_t hipsparseCreateCsrgemm2Info(csrgemm2Info_t*);
hipsparseStatus_t hipsparseDestroyCsrgemm2Info(csrgemm2Info_t);
hipsparseStatus_t hipsparseXcsrgemm2Nnz(hipsparseHandle_t, int, int, int, const hipsparseMatDescr_t, int, const int*,
                                        const int*, const hipsparseMatDescr_t, int, const int*, const int*,
                                        const hipsparseMatDescr_t, int, const int*, const int*,
                                        const hipsparseMatDescr_t, int*, int*, const csrgemm2Info_t, void*);
#define ROCM3D_CSRGEMM2(LETTER, TYPE)                                                                                     \
  hipsparseStatus_t hipsparse##LETTER##csrgemm2_bufferSizeExt(                                                            \
      hipsparseHandle_t, int, int, int, const TYPE*, const hipsparseMatDescr_t, int, const int*, const int*,              \
      const hipsparseMatDescr_t, int, const int*, const int*, const TYPE*, const hipsparseMatDescr_t, int, const int*,    \
      const int*, csrgemm2Info_t, size_t*);                                                                               \
  hipsparseStatus_t hipsparse##LETTER##csrgemm2(                                                                          \
      hipsparseHandle_t, int, int, int, const TYPE*, const hipsparseMatDescr_t, int, const TYPE*, const int*, const int*, \
      const hipsparseMatDescr_t, int, const TYPE*, const int*, const int*, const TYPE*, const hipsparseMatDescr_t, int,   \
      const TYPE*, const int*, const int*, const hipsparseMatDescr_t, TYPE*, const int*, int*, const csrgemm2Info_t, void*);
ROCM3D_CSRGEMM2(S, float)
ROCM3D_CSRGEMM2(D, double)
ROCM3D_CSRGEMM2(C, hipComplex)
ROCM3D_CSRGEMM2(Z, hipDoubleComplex)
#undef ROCM3D_CSRGEMM2

#ifdef __cplusplus
}
#endif
