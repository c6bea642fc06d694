import torch

from ops import Net

net = Net()
fast = torch.jit.script(net)


def run(x):
    return fast(x)
