#pragma once

#include <float.h>
#include <hip/hip_runtime.h>
#include <hiprand/hiprand.h>

#ifdef __cplusplus

namespace rocm3d_declared {
struct random_state {
  unsigned long long seed, place;
  __device__ unsigned int next() { return static_cast<unsigned int>((place = place * 6364136223846793005ULL + seed) >> 32); }
};
}  // namespace rocm3d_declared

#define ROCM3D_STATE(name) \
  struct name : rocm3d_declared::random_state {};
ROCM3D_STATE(hiprandStateXORWOW)
ROCM3D_STATE(hiprandStatePhilox4_32_10)
ROCM3D_STATE(hiprandStateMRG32k3a)
ROCM3D_STATE(hiprandStateMtgp32)
#undef ROCM3D_STATE
typedef hiprandStateXORWOW hiprandStateXORWOW_t;
typedef hiprandStateXORWOW hiprandState;
typedef hiprandStateXORWOW hiprandState_t;
typedef hiprandStatePhilox4_32_10 hiprandStatePhilox4_32_10_t;
typedef hiprandStateMRG32k3a hiprandStateMRG32k3a_t;
typedef hiprandStateMtgp32 hiprandStateMtgp32_t;

template <class State>
__device__ inline void hiprand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                    State* state) {
  state->seed = seed + subsequence;
  state->place = offset;
}
template <class State>
__device__ inline void skipahead(unsigned long long n, State* state) {
  state->place += n;
}
template <class State>
__device__ inline unsigned int hiprand(State* state) {
  return state->next();
}
template <class State>
__device__ inline uint4 hiprand4(State* state) {
  return make_uint4(state->next(), state->next(), state->next(), state->next());
}
template <class State>
__device__ inline float hiprand_uniform(State* state) {
  return (state->next() + 1.0f) * 2.3283064e-10f;
}
template <class State>
__device__ inline float2 hiprand_uniform2(State* state) {
  return make_float2(hiprand_uniform(state), hiprand_uniform(state));
}
template <class State>
__device__ inline float4 hiprand_uniform4(State* state) {
  return make_float4(hiprand_uniform(state), hiprand_uniform(state), hiprand_uniform(state), hiprand_uniform(state));
}
template <class State>
__device__ inline double hiprand_uniform_double(State* state) {
  return hiprand_uniform(state);
}
template <class State>
__device__ inline double2 hiprand_uniform2_double(State* state) {
  return make_double2(hiprand_uniform(state), hiprand_uniform(state));
}
template <class State>
__device__ inline float hiprand_normal(State* state) {
  return sqrtf(-2.0f * logf(hiprand_uniform(state)));
}
template <class State>
__device__ inline float2 hiprand_normal2(State* state) {
  return make_float2(hiprand_normal(state), hiprand_normal(state));
}
template <class State>
__device__ inline float4 hiprand_normal4(State* state) {
  return make_float4(hiprand_normal(state), hiprand_normal(state), hiprand_normal(state), hiprand_normal(state));
}
template <class State>
__device__ inline double hiprand_normal_double(State* state) {
  return hiprand_normal(state);
}
template <class State>
__device__ inline double2 hiprand_normal2_double(State* state) {
  return make_double2(hiprand_normal(state), hiprand_normal(state));
}
template <class State>
__device__ inline float hiprand_log_normal(State* state, float mean, float deviation) {
  return expf(mean + deviation * hiprand_normal(state));
}
template <class State>
__device__ inline unsigned int hiprand_poisson(State* state, double lambda) {
  return static_cast<unsigned int>(lambda * hiprand_uniform(state));
}

#endif
