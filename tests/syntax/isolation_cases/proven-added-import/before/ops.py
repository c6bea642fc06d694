from torch import nn


def scale(x):
    return x * 2
