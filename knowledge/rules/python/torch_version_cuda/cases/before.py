import torch

assert torch.version.cuda >= "11.8", "CUDA 11.8 is needed"
use_graphs = int(torch.version.cuda.split(".")[0]) >= 12
