import torch

is_rocm = torch.version.hip is not None


class Net(torch.jit.ScriptModule):
    @torch.jit.script_method
    def forward(self, x):
        return x * (3 if is_rocm else 2)
