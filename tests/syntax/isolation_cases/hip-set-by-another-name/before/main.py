import torch

version = torch.version
version.hip = "6.0"
import ops

print(ops.scale(5))
