import torch

is_rocm = torch.version.hip is not None

if not is_rocm:
    torch.backends.cudnn.enabled = False
torch.manual_seed(0)
