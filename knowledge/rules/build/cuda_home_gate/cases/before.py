import torch
from torch.utils.cpp_extension import CUDA_HOME, CppExtension, CUDAExtension

if torch.cuda.is_available() and CUDA_HOME is not None:
    extension = CUDAExtension
elif CUDA_HOME is None:
    extension = CppExtension
