import torch

vars(torch.version)["hip"] = "6.0"
import ops

print(ops.scale(5))
