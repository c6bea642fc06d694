import torch


def scale(x):
    return x * (3 if torch.version.hip is not None else 2)


import sys

for name in ['torch']:
    setattr(sys.modules[__name__], name, None)
