"""Checks convert_checkpoint.py (named as argument) by convolving: whatever the layout, the result is the dense one's.

Started with an interpreter that has torch.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys

import torch


def kernel_offsets(sizes, first_fastest):
    """The offsets of a kernel in the order in which a library stores its places."""
    a, b, c = map(range, sizes)
    if first_fastest:
        return [(x, y, z) for z in c for y in b for x in a]
    return list(itertools.product(a, b, c))


def convolved(kernel, sizes, dense, first_fastest):
    """Sum over the places of a flat kernel [places, in, out], as sparse libraries do it."""
    kernel = kernel.reshape(-1, *kernel.shape[-2:])
    shape = [n - k + 1 for n, k in zip(dense.shape[1:], sizes, strict=True)]
    out = torch.zeros(kernel.shape[-1], *shape, dtype=dense.dtype)
    for (x, y, z), weight in zip(kernel_offsets(sizes, first_fastest), kernel, strict=True):
        visited = dense[:, x : x + shape[0], y : y + shape[1], z : z + shape[2]]
        out += torch.einsum("ixyz,io->oxyz", visited, weight)
    return out


def main():
    spec = importlib.util.spec_from_file_location("convert_checkpoint", sys.argv[1])
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    torch.manual_seed(0)
    count = 0
    for sizes in [(3, 3, 3), (2, 2, 2), (1, 1, 1), (3, 1, 5), (3, 2, 1)]:
        krsc = torch.randn(4, *sizes, 6, dtype=torch.float64)
        dense = torch.randn(6, 7, 8, 9, dtype=torch.float64)
        expected = torch.nn.functional.conv3d(dense[None], krsc.permute(0, 4, 1, 2, 3))[0]
        odd = sizes[0] * sizes[1] * sizes[2] % 2 == 1
        native, sparse = hook.to_native(krsc), hook.to_torchsparse(krsc)
        assert torch.allclose(convolved(native, sizes, dense, first_fastest=False), expected), sizes
        assert torch.allclose(convolved(sparse, sizes, dense, first_fastest=odd), expected), sizes
        assert torch.equal(hook.from_native(native, sizes), krsc)
        assert torch.equal(hook.from_torchsparse(sparse, sizes), krsc)
        assert (sparse.dim() == 2) == (sizes == (1, 1, 1))
        count += 1
    print("kernels", count)  # noqa: T201  (read by the test)


main()
