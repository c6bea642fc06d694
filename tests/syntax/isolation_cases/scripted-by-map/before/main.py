import torch

import ops

(run,) = map(torch.jit.script, [ops.scale])
