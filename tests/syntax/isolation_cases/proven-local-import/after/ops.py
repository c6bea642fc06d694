import torch


def scale(x):
    return x * 2


def late(x):
    import torch

    return x * (3 if torch.version.hip is not None else 2)
