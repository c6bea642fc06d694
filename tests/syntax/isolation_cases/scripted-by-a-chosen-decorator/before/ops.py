import torch

fast = torch.jit.script if torch.ones(1).sum() > 0 else lambda function: function


@fast
def scale(x):
    return x * 2
