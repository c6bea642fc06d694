import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return self.scale(x)

    def scale(self, x):
        return x * 2
