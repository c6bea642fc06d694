import torch


def scale(x):
    return x * 2


def late(x):
    import torch

    return x * 2
