import torch

from language import jit


@jit
def scale(x):
    return x * 2
