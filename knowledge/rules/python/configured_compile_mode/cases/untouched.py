import re

import torch


def prepare(model, config, mode):
    pattern = re.compile(config.pattern)
    return torch.compile(model, mode=mode), compile(pattern, "name", mode=config.mode)
