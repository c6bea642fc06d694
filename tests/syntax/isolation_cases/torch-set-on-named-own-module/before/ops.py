import sys

import torch

this = sys.modules[__name__]


def scale(x):
    return x * 2


this.torch = None
