import torch

backend = "hip" if torch.version.hip is not None else "cuda"
print("built for", backend)
x = torch.zeros(4, device="cuda")
