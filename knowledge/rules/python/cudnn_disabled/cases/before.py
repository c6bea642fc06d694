import torch

torch.backends.cudnn.enabled = False
torch.manual_seed(0)
