import torch
from torch.utils.cpp_extension import CUDAExtension

extension = CUDAExtension(
    "ops",
    ["ops.cpp", "ops.cu"],
    extra_compile_args={"cxx": ["-O3", "-std=c++14"], "nvcc": ["-O3", "-std=c++14"]},
)
