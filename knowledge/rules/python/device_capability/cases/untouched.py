import torch

print("capability", torch.cuda.get_device_capability())
# has_bf16 = torch.cuda.get_device_capability()[0] >= 8
has_bf16 = torch.cuda.is_bf16_supported()
