import torch
from torch.utils.cpp_extension import CUDAExtension

is_rocm = torch.version.hip is not None

extension = CUDAExtension(
    "ops",
    ["ops.cpp", "ops.cu"],
    extra_compile_args={"cxx": ["-O3"] if is_rocm else ["-O3", "-std=c++14"], "nvcc": ["-O3"] if is_rocm else ["-O3", "-std=c++14"]},
)
