import torch
from torch.utils.cpp_extension import load

ops = load(
    name="ops",
    sources=["ops.cpp", "ops.cu"],
    extra_cflags=["-O3"],
)
