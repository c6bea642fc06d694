import torch

is_rocm = torch.version.hip is not None

with open("README.md") as file:
    text = file.read()
flags = [] if is_rocm else ["-O3"]
