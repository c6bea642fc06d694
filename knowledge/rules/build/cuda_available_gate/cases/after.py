import torch
from torch.utils.cpp_extension import CppExtension, CUDAExtension

is_rocm = torch.version.hip is not None

if torch.cuda.is_available() or is_rocm:
    extension = CUDAExtension("ops", ["ops.cpp", "ops.cu"])
else:
    extension = CppExtension("ops", ["ops.cpp"])
