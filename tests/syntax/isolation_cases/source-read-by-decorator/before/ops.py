import torch

from traced import traced


@traced
def scale(x):
    return x * 2
