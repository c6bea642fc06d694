#pragma once

#include <float.h>
#include <hipblas/hipblas.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void* hipblasLtHandle_t;
typedef struct hipblasLtMatrixLayoutOpaque_t* hipblasLtMatrixLayout_t;
typedef struct hipblasLtMatmulDescOpaque_t* hipblasLtMatmulDesc_t;
typedef struct hipblasLtMatmulPreferenceOpaque_t* hipblasLtMatmulPreference_t;
typedef struct {
  uint8_t data[16];
  size_t max_workspace_bytes;
} hipblasLtMatmulAlgo_t;
typedef struct {
  hipblasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  hipblasStatus_t state;
  float wavesCount;
  int reserved[4];
} hipblasLtMatmulHeuristicResult_t;
typedef enum {
  HIPBLASLT_MATMUL_DESC_TRANSA = 0, HIPBLASLT_MATMUL_DESC_TRANSB = 1, HIPBLASLT_MATMUL_DESC_EPILOGUE = 2,
  HIPBLASLT_MATMUL_DESC_BIAS_POINTER = 3, HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 4,
  HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER = 5, HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER = 6
} hipblasLtMatmulDescAttributes_t;
typedef enum {
  HIPBLASLT_EPILOGUE_DEFAULT = 1, HIPBLASLT_EPILOGUE_RELU = 2, HIPBLASLT_EPILOGUE_BIAS = 4, HIPBLASLT_EPILOGUE_GELU = 32
} hipblasLtEpilogue_t;
typedef enum {
  HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 0, HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 1, HIPBLASLT_MATRIX_LAYOUT_TYPE = 2,
  HIPBLASLT_MATRIX_LAYOUT_ORDER = 3
} hipblasLtMatrixLayoutAttribute_t;
typedef enum { HIPBLASLT_ORDER_COL = 0, HIPBLASLT_ORDER_ROW = 1 } hipblasLtOrder_t;
typedef enum { HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 } hipblasLtMatmulPreferenceAttributes_t;

hipblasStatus_t hipblasLtCreate(hipblasLtHandle_t*);
hipblasStatus_t hipblasLtDestroy(const hipblasLtHandle_t);
hipblasStatus_t hipblasLtMatrixLayoutCreate(hipblasLtMatrixLayout_t*, hipDataType, uint64_t, uint64_t, int64_t);
hipblasStatus_t hipblasLtMatrixLayoutDestroy(const hipblasLtMatrixLayout_t);
hipblasStatus_t hipblasLtMatrixLayoutSetAttribute(hipblasLtMatrixLayout_t, hipblasLtMatrixLayoutAttribute_t, const void*, size_t);
hipblasStatus_t hipblasLtMatmulDescCreate(hipblasLtMatmulDesc_t*, hipblasComputeType_t, hipDataType);
hipblasStatus_t hipblasLtMatmulDescDestroy(const hipblasLtMatmulDesc_t);
hipblasStatus_t hipblasLtMatmulDescSetAttribute(hipblasLtMatmulDesc_t, hipblasLtMatmulDescAttributes_t, const void*, size_t);
hipblasStatus_t hipblasLtMatmulPreferenceCreate(hipblasLtMatmulPreference_t*);
hipblasStatus_t hipblasLtMatmulPreferenceDestroy(const hipblasLtMatmulPreference_t);
hipblasStatus_t hipblasLtMatmulPreferenceSetAttribute(hipblasLtMatmulPreference_t, hipblasLtMatmulPreferenceAttributes_t,
                                                      const void*, size_t);
hipblasStatus_t hipblasLtMatmulAlgoGetHeuristic(hipblasLtHandle_t, hipblasLtMatmulDesc_t, hipblasLtMatrixLayout_t,
                                                hipblasLtMatrixLayout_t, hipblasLtMatrixLayout_t, hipblasLtMatrixLayout_t,
                                                hipblasLtMatmulPreference_t, const int, hipblasLtMatmulHeuristicResult_t*,
                                                int*);
hipblasStatus_t hipblasLtMatmul(hipblasLtHandle_t, hipblasLtMatmulDesc_t, const void*, const void*, hipblasLtMatrixLayout_t,
                                const void*, hipblasLtMatrixLayout_t, const void*, const void*, hipblasLtMatrixLayout_t,
                                void*, hipblasLtMatrixLayout_t, const hipblasLtMatmulAlgo_t*, void*, size_t, hipStream_t);

#ifdef __cplusplus
}
#endif
