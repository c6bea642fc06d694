import torch
from torch.utils.cpp_extension import CUDA_HOME, CppExtension, CUDAExtension

is_rocm = torch.version.hip is not None

if torch.cuda.is_available() and (CUDA_HOME is not None or is_rocm):
    extension = CUDAExtension
elif CUDA_HOME is None and not is_rocm:
    extension = CppExtension
