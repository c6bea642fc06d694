import torch
import triton


def launch(kernel, grid, x, n):
    kernel[grid](x, n, num_warps=4, num_stages=1)


def build(pipeline):
    return pipeline(num_stages=3)
