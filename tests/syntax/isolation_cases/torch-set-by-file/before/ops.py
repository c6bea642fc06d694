import torch


def scale(x):
    return x * 2


exec(open("late.py").read())
