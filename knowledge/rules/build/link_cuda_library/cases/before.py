import torch
from torch.utils.cpp_extension import CUDAExtension

extension = CUDAExtension(
    "ops",
    ["ops.cu"],
    libraries=["cusparse", "cuda"],
)
