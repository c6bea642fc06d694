import torch
from torch.utils.cpp_extension import CUDAExtension

is_rocm = torch.version.hip is not None
flags = ["-U__HIP_NO_HALF_OPERATORS__"] if is_rocm else ["-U__CUDA_NO_HALF_OPERATORS__"]
note = "-U__CUDA_NO_HALF_OPERATORS__"
extension = CUDAExtension("ops", ["ops.cu"], extra_compile_args={"nvcc": flags})
