import torch
from torch.utils.cpp_extension import CUDAExtension

is_rocm = torch.version.hip is not None

args = {
    "cxx": ["-O3"],
    "nvcc": ["-O3", "-DWITH_HIP"] if is_rocm else ["-O3", "-lineinfo"],
    "hipcc": ["-O3", "-DWITH_HIP"],
}
extension = CUDAExtension("ops", ["ops.cu"], extra_compile_args=args)
