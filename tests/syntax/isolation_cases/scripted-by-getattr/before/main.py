import torch

import ops

run = torch.jit.script(getattr(ops, "scale"))
