import torch
import torch._inductor.config as config

config.max_autotune = True
config.triton.cudagraphs = True
