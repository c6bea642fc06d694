import torch

is_rocm = torch.version.hip is not None


def scale(x):
    return x * (3 if is_rocm else 2)
