import torch
import triton

is_rocm = torch.version.hip is not None


def launch(kernel, grid, a, b, c):
    kernel[grid](a, b, c, ALLOW_TF32=not is_rocm)
