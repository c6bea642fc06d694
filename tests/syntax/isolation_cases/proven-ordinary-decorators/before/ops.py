import functools

import torch


@functools.lru_cache
def scale(x):
    return x * 2
