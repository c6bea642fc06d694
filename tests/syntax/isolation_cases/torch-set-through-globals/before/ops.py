import torch


def scale(x):
    return x * 2


for name in ['torch']:
    globals()[name] = None
