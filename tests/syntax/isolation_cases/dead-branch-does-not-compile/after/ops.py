import torch


def scale(x):
    return x * 2


is_rocm = torch.version.hip is not None
if is_rocm:
    return 1
