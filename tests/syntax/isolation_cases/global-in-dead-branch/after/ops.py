import torch


def scale(x):
    return x * 2


is_rocm = torch.version.hip is not None
last = 0


def set_last():
    if is_rocm:
        global last
    last = 1
    return last
