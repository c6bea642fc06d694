import torch


def scale(x):
    return x * 2


import linecache

third = linecache.getline(__file__, 3)
