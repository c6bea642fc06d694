#include <ATen/ATen.h>
#include <THC/THC.h>
#include <THC/THCAtomics.cuh>

at::Tensor twice(const at::Tensor& x) { return x + x; }
