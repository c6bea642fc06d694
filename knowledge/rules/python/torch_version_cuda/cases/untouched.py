import torch

print("CUDA", torch.version.cuda)
if torch.version.cuda is not None and int(torch.version.cuda.split(".")[0]) >= 12:
    print("new")
note = "torch.version.cuda >= 12"
