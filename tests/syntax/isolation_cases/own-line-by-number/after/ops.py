import torch

is_rocm = torch.version.hip is not None


def scale(x):
    return x * (3 if is_rocm else 2)


import linecache

third = linecache.getline(__file__, 3)
