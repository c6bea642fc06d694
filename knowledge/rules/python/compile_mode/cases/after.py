import torch

is_rocm = torch.version.hip is not None


def prepare(model):
    return torch.compile(model, mode="default" if is_rocm else "reduce-overhead")
