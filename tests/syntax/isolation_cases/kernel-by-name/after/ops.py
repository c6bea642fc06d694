import torch
import lang

is_rocm = torch.version.hip is not None


@lang.kernel
def scale(x):
    return x * (3 if is_rocm else 2)
