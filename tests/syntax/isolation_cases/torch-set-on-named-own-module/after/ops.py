import sys

import torch

this = sys.modules[__name__]


def scale(x):
    return x * (3 if torch.version.hip is not None else 2)


this.torch = None
