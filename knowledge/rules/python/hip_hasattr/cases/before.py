import torch

if hasattr(torch.version, "hip"):
    backend = "rocm"
else:
    backend = "cuda"
