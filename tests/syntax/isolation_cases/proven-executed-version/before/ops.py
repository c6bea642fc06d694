import torch


def scale(x):
    return x * 2


exec(open("version.py").read())
