import torch
from torch.utils.cpp_extension import CppExtension, CUDAExtension

if torch.cuda.is_available():
    extension = CUDAExtension("ops", ["ops.cpp", "ops.cu"])
else:
    extension = CppExtension("ops", ["ops.cpp"])
