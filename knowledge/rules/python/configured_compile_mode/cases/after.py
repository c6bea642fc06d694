import torch

is_rocm = torch.version.hip is not None


class Policy:
    def __init__(self, config):
        self.sample = torch.compile(self.sample, mode="default" if is_rocm else config.pytorch_compile_mode)
