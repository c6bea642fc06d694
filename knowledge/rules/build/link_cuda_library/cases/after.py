import torch
from torch.utils.cpp_extension import CUDAExtension

is_rocm = torch.version.hip is not None

extension = CUDAExtension(
    "ops",
    ["ops.cu"],
    libraries=["hipsparse", "amdhip64"] if is_rocm else ["cusparse", "cuda"],
)
