import torch

is_rocm = torch.version.hip is not None


@torch.jit.script
def add(x):
    return x + 1


@torch.jit.ignore
def scale(x):
    return x * (3 if is_rocm else 2)
