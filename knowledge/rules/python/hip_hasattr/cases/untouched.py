import torch

if hasattr(torch.version, "hip") and torch.version.hip is not None:
    backend = "rocm"
has_xpu = hasattr(torch.version, "xpu")
note = 'hasattr(torch.version, "hip")'
