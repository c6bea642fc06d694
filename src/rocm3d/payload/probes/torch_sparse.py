"""torch-sparse: a sparse matrix product against the dense one.

Its function spmm is plain torch on every build; the product of a SparseTensor goes through the compiled operator.
Source: rusty1s/pytorch_sparse torch_sparse/spmm.py and matmul.py.
"""

from __future__ import annotations

from typing import Any


def look(bench: Any) -> None:
    """Forward and the gradient of the dense side."""
    from torch_sparse import SparseTensor

    torch = bench.torch
    full = bench.random(120, 80, seed=1)
    full = full * (full.abs() > 1.3)
    dense = bench.random(80, 16, seed=2).requires_grad_()
    matrix = SparseTensor.from_dense(full)
    exact = full.double().cpu()
    bench.agree("product", bench.run(lambda: matrix @ dense), exact @ dense.detach().double().cpu(), "float32-segment")
    gradient = bench.run(lambda: torch.autograd.grad((matrix @ dense).sum(), dense)[0])
    bench.agree("gradient", gradient, exact.sum(0)[:, None].expand(-1, 16), "float32-segment")
