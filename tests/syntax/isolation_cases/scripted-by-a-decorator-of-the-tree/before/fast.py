import torch


def compiled(function):
    return torch.jit.script(function)
