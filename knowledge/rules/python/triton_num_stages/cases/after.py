import torch
import triton

is_rocm = torch.version.hip is not None


def launch(kernel, grid, x, n):
    kernel[grid](x, n, num_warps=4, num_stages=1 if is_rocm else 3)
