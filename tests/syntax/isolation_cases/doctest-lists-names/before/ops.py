"""Scale.

>>> sorted(name for name in globals() if name[0] != "_")
['scale', 'torch']
"""

import torch


def scale(x):
    return x * 2
