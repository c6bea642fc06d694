// Only handles and statuses, for translation units that pass them on.
#pragma once

#include <cuda_runtime_api.h>
#include <library_types.h>

typedef struct cusparseContext* cusparseHandle_t;
typedef struct cusparseMatDescr* cusparseMatDescr_t;
typedef struct cusparseSpMatDescr* cusparseSpMatDescr_t;
typedef struct cusparseDnMatDescr* cusparseDnMatDescr_t;
typedef enum { CUSPARSE_STATUS_SUCCESS = 0, CUSPARSE_STATUS_NOT_INITIALIZED = 1 } cusparseStatus_t;

#ifdef __cplusplus
extern "C" {
#endif
const char* cusparseGetErrorString(cusparseStatus_t status);
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
