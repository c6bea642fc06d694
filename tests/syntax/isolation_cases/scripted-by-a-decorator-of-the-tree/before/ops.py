import torch


from fast import compiled


@compiled
def scale(x):
    return x * 2
