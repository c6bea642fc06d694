import torch
from torch.utils.cpp_extension import load

ops = load(name="ops", sources=["ops.cpp"])
weights = torch.load("weights.pt")
note = 'extra_cflags=["-O3"]'
