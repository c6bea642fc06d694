import torch
from torch.utils.cpp_extension import load

is_rocm = torch.version.hip is not None

ops = load(
    name="ops",
    sources=["ops.cpp", "ops.cu"],
    extra_cflags=["-O3", "-DUSE_ROCM=1", "-D__HIP_PLATFORM_AMD__=1"] if is_rocm else ["-O3"],
)
