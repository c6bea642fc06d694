import torch
import triton


def launch(kernel, grid, x, n):
    kernel[grid](x, n, num_warps=4, num_stages=3)
