import re

import torch

pattern = re.compile("reduce-overhead")
note = 'torch.compile(model, mode="reduce-overhead")'


def prepare(model):
    return torch.compile(model, mode="default")
