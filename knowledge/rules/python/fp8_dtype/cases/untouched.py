import torch

# torch.float8_e4m3fn is the type of the checkpoint on disk
SIZES = {"float8_e4m3fn": 1, "bfloat16": 2}
is_rocm = torch.version.hip is not None
kinds = (torch.float8_e4m3fnuz,) if is_rocm else (torch.float8_e4m3fn,)
