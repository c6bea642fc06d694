import torch


def scale(x):
    return x * (3 if hasattr(torch.version, 'hip') else 2)
