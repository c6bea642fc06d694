import torch


def scale(x):
    return x * 2


import sys

for name in ['torch']:
    setattr(sys.modules[__name__], name, None)
