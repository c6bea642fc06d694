import torch
from torch.utils.cpp_extension import CUDAExtension

args = {
    "cxx": ["-O3"],
    "nvcc": ["-O3", "-lineinfo"],
    "hipcc": ["-O3", "-DWITH_HIP"],
}
extension = CUDAExtension("ops", ["ops.cu"], extra_compile_args=args)
