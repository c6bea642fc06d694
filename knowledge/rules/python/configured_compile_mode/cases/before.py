import torch


class Policy:
    def __init__(self, config):
        self.sample = torch.compile(self.sample, mode=config.pytorch_compile_mode)
