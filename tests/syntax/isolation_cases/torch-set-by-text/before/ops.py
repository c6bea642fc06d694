import torch


def scale(x):
    return x * 2


exec("torch = None")
