import torch
from torch.utils.cpp_extension import CUDA_HOME

if CUDA_HOME is not None or torch.version.hip is not None:
    with_gpu = True
