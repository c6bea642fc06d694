import torch
from torch.utils.cpp_extension import CUDAExtension

is_rocm = torch.version.hip is not None
libraries = ["hipsparse"] if is_rocm else ["cusparse"]
topics = ["cusparse", "cuda"]
extension = CUDAExtension("ops", ["ops.cu"], libraries=libraries)
