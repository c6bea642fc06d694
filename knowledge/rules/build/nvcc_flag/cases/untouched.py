import torch
from torch.utils.cpp_extension import CUDAExtension

is_rocm = torch.version.hip is not None
flags = ["-O3"] if is_rocm else ["-O3", "--use_fast_math"]
note = "--use_fast_math"
extension = CUDAExtension("ops", ["ops.cu"], extra_compile_args={"nvcc": flags})
