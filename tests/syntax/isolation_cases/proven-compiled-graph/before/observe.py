import torch

import ops

print(ops.scale(torch.ones(2)))
