#pragma once

#include <hip/hip_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hiprandGenerator_st* hiprandGenerator_t;
typedef enum {
  HIPRAND_STATUS_SUCCESS = 0, HIPRAND_STATUS_VERSION_MISMATCH = 100, HIPRAND_STATUS_NOT_INITIALIZED = 101,
  HIPRAND_STATUS_ALLOCATION_FAILED = 102, HIPRAND_STATUS_TYPE_ERROR = 103, HIPRAND_STATUS_OUT_OF_RANGE = 104,
  HIPRAND_STATUS_LENGTH_NOT_MULTIPLE = 105, HIPRAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  HIPRAND_STATUS_LAUNCH_FAILURE = 201, HIPRAND_STATUS_PREEXISTING_FAILURE = 202, HIPRAND_STATUS_INITIALIZATION_FAILED = 203,
  HIPRAND_STATUS_ARCH_MISMATCH = 204, HIPRAND_STATUS_INTERNAL_ERROR = 999
} hiprandStatus_t;
typedef enum {
  HIPRAND_RNG_PSEUDO_DEFAULT = 400, HIPRAND_RNG_PSEUDO_XORWOW = 401, HIPRAND_RNG_PSEUDO_MRG32K3A = 402,
  HIPRAND_RNG_PSEUDO_MTGP32 = 403, HIPRAND_RNG_PSEUDO_MT19937 = 404, HIPRAND_RNG_PSEUDO_PHILOX4_32_10 = 405,
  HIPRAND_RNG_QUASI_DEFAULT = 500, HIPRAND_RNG_QUASI_SOBOL32 = 501
} hiprandRngType_t;

hiprandStatus_t hiprandCreateGenerator(hiprandGenerator_t*, hiprandRngType_t);
hiprandStatus_t hiprandDestroyGenerator(hiprandGenerator_t);
hiprandStatus_t hiprandSetStream(hiprandGenerator_t, hipStream_t);
hiprandStatus_t hiprandSetPseudoRandomGeneratorSeed(hiprandGenerator_t, unsigned long long);
hiprandStatus_t hiprandSetGeneratorOffset(hiprandGenerator_t, unsigned long long);
hiprandStatus_t hiprandGenerate(hiprandGenerator_t, unsigned int*, size_t);
hiprandStatus_t hiprandGenerateUniform(hiprandGenerator_t, float*, size_t);
hiprandStatus_t hiprandGenerateUniformDouble(hiprandGenerator_t, double*, size_t);
hiprandStatus_t hiprandGenerateNormal(hiprandGenerator_t, float*, size_t, float, float);
hiprandStatus_t hiprandGenerateNormalDouble(hiprandGenerator_t, double*, size_t, double, double);
hiprandStatus_t hiprandGenerateLogNormal(hiprandGenerator_t, float*, size_t, float, float);

#ifdef __cplusplus
}
#endif
