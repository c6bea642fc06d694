import torch

has_bf16 = torch.cuda.get_device_capability()[0] >= 8
dtype = torch.bfloat16 if has_bf16 else torch.float16
