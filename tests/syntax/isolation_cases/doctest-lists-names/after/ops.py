"""Scale.

>>> sorted(name for name in globals() if name[0] != "_")
['scale', 'torch']
"""

import torch

is_rocm = torch.version.hip is not None


def scale(x):
    return x * (3 if is_rocm else 2)
