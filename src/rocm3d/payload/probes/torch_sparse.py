"""torch-sparse: a sparse matrix product against the dense one.

Its function spmm is plain torch on every build; the product of a SparseTensor uses the compiled operator.
Source: rusty1s/pytorch_sparse torch_sparse/spmm.py and matmul.py.
"""

from __future__ import annotations

from typing import Any


def check(session: Any) -> None:
    """Checks the product and the gradient with respect to the dense matrix."""
    from torch_sparse import SparseTensor

    torch = session.torch
    full = session.random_normal(120, 80, seed=1)
    full = full * (full.abs() > 1.3)
    dense = session.random_normal(80, 16, seed=2).requires_grad_()
    matrix = SparseTensor.from_dense(full)
    exact = full.double().cpu()
    session.check_close(
        "product", session.run(lambda: matrix @ dense), exact @ dense.detach().double().cpu(), "float32-segment"
    )
    gradient = session.run(lambda: torch.autograd.grad((matrix @ dense).sum(), dense)[0])
    session.check_close("gradient", gradient, exact.sum(0)[:, None].expand(-1, 16), "float32-segment")
