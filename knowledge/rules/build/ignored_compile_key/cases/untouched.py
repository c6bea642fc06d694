import torch
from torch.utils.cpp_extension import CUDAExtension

# No compiler flags: names of tools, by backend.
tools = {"nvcc": ["nvcc"], "hipcc": ["hipcc"]}
extension = CUDAExtension("ops", ["ops.cu"], extra_compile_args={"nvcc": ["-O3"]})
