import torch
import ops

ops.torch = None


def scale(x):
    return x * 2
