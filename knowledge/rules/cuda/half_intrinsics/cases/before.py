import torch
from torch.utils.cpp_extension import CUDAExtension

extension = CUDAExtension(
    "ops",
    ["ops.cu"],
    extra_compile_args={"nvcc": ["-O3", "-U__CUDA_NO_HALF_CONVERSIONS__"]},
)
