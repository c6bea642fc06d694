import torch

# Not a build: the program chooses where to run.
device = "cuda" if torch.cuda.is_available() else "cpu"
if torch.cuda.is_available() or torch.version.hip is not None:
    print(device)
