"""torch-scatter: sums, maxima and segments against plain torch.

Its scatter_sum is plain torch on every build; only maxima and segments use the compiled operators.
Source: rusty1s/pytorch_scatter torch_scatter/scatter.py, version 2.1.2.
"""

from __future__ import annotations

from typing import Any


def check(session: Any) -> None:
    """Reduces 1000 rows to 60 groups of different sizes, one of them empty."""
    import torch_scatter

    torch = session.torch
    rows = session.random_normal(1000, 8, seed=1)
    groups = torch.randint(0, 59, (1000,), generator=torch.Generator().manual_seed(2)).to(session.device)
    exact = rows.double().cpu()
    sums = torch.zeros(60, 8, dtype=torch.float64).index_add(0, groups.cpu(), exact)
    got = session.run(lambda: torch_scatter.scatter_sum(rows, groups, dim=0, dim_size=60))
    session.check_close("scatter_sum", got, sums, "float32-segment")
    greatest = session.run(lambda: torch_scatter.scatter_max(rows, groups, dim=0, dim_size=59)[0])
    index = groups.cpu()[:, None].expand(-1, 8)
    expected = torch.zeros(59, 8, dtype=torch.float64).scatter_reduce(0, index, exact, "amax", include_self=False)
    session.check_close("scatter_max", greatest, expected, "float32-copy")
    order = groups.argsort(stable=True)
    ends = torch.cat([groups.new_zeros(1), torch.bincount(groups, minlength=60).cumsum(0)])
    segments = session.run(lambda: torch_scatter.segment_csr(rows[order], ends, reduce="sum"))
    session.check_close("segment_csr", segments, sums, "float32-segment")
