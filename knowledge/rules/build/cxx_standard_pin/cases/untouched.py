import torch
from torch.utils.cpp_extension import CUDAExtension

note = "-std=c++14"
extension = CUDAExtension("ops", ["ops.cu"], extra_compile_args={"nvcc": ["-O3", "-std=c++20"]})
