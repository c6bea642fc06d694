import torch

if torch.version.hip is not None:
    backend = "rocm"
else:
    backend = "cuda"
