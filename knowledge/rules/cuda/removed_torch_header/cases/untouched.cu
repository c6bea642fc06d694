#include <ATen/ATen.h>
#include <ATen/cuda/Atomic.cuh>
// #include <THC/THC.h>
#if !defined(USE_ROCM)
#include <THC/THC.h>
#endif
