import torch

device = torch.device("cuda" if torch.version.hip is not None else "cuda")
x = torch.zeros(4, device=device)
