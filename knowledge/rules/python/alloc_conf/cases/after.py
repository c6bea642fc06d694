import os

import torch

is_rocm = torch.version.hip is not None

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:False,max_split_size_mb:128" if is_rocm else "expandable_segments:True,max_split_size_mb:128"
