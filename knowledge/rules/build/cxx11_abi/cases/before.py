import torch
from torch.utils.cpp_extension import CUDAExtension

abi = "-D_GLIBCXX_USE_CXX11_ABI=0"
extension = CUDAExtension("ops", ["ops.cu"], extra_compile_args={"cxx": [abi], "nvcc": [abi]})
