import torch


def scale(x):
    return x * 2


del torch
