import torch

is_rocm = torch.version.hip is not None


@torch.compile(backend="eager", fullgraph=True)
def scale(x):
    return x * (3 if is_rocm else 2)
