import torch


def scale(x):
    return x * 2

__all__ = [name for name in dir() if name[0] != '_']
