import torch

is_rocm = torch.version.hip is not None

has_bf16 = torch.cuda.is_bf16_supported() if is_rocm else torch.cuda.get_device_capability()[0] >= 8
dtype = torch.bfloat16 if has_bf16 else torch.float16
