import os

import torch

is_rocm = torch.version.hip is not None

os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
if is_rocm:
    os.environ["HIP_LAUNCH_BLOCKING"] = "1"
x = torch.zeros(4)
