import torch

is_rocm = torch.version.hip is not None
fast = torch.jit.script if torch.ones(1).sum() > 0 else lambda function: function


@fast
def scale(x):
    return x * (3 if is_rocm else 2)
