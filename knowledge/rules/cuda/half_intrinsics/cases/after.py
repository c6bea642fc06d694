import torch
from torch.utils.cpp_extension import CUDAExtension

is_rocm = torch.version.hip is not None

extension = CUDAExtension(
    "ops",
    ["ops.cu"],
    extra_compile_args={"nvcc": ["-O3", "-U__CUDA_NO_HALF_CONVERSIONS__", "-U__HIP_NO_HALF_CONVERSIONS__"] if is_rocm else ["-O3", "-U__CUDA_NO_HALF_CONVERSIONS__"]},
)
