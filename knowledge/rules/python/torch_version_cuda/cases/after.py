import torch

is_rocm = torch.version.hip is not None

assert is_rocm or torch.version.cuda >= "11.8", "CUDA 11.8 is needed"
use_graphs = not is_rocm and int(torch.version.cuda.split(".")[0]) >= 12
