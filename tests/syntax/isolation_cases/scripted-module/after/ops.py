import torch

is_rocm = torch.version.hip is not None


class Net(torch.nn.Module):
    def forward(self, x):
        return self.scale(x)

    def scale(self, x):
        return x * (3 if is_rocm else 2)
