import torch
import torch._inductor.config as config

is_rocm = torch.version.hip is not None

config.max_autotune = not is_rocm
config.triton.cudagraphs = not is_rocm
