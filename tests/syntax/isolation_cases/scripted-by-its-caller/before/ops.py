import torch


def scale(x):
    return x * 2


@torch.jit.script
def outer(x):
    return scale(x) + 1
