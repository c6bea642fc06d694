import torch


def scale(x):
    return x * 2


if "cache" not in globals():
    globals()["cache"] = {}
