import torch
import lang


@lang.kernel
def scale(x):
    return x * 2
