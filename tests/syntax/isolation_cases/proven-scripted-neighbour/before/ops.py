import torch


@torch.jit.script
def add(x):
    return x + 1


@torch.jit.ignore
def scale(x):
    return x * 2
