import torch
import triton


def launch(kernel, grid, a, b, c):
    kernel[grid](a, b, c, ALLOW_TF32=True)
