import torch
import torch._inductor.config as config

# config.max_autotune = True
config.max_autotune = False
config.epilogue_fusion = True
