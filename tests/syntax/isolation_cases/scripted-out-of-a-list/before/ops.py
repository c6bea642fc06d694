import torch


def scale(x):
    return x * 2
