import torch

from language import jit

is_rocm = torch.version.hip is not None


@jit
def scale(x):
    return x * (3 if is_rocm else 2)
