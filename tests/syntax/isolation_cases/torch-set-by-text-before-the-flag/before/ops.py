import torch

exec("torch = None")


def scale(x):
    return x * 2
