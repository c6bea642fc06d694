#include <ATen/ATen.h>
#if !defined(USE_ROCM)
#include <THC/THC.h>
#include <THC/THCAtomics.cuh>
#endif

at::Tensor twice(const at::Tensor& x) { return x + x; }
