import torch


def scale(x):
    return x * 2


table = {'torch': None}
globals().update(table)
