"""torch-scatter: sums, maxima and segments against plain torch.

Its scatter_sum is plain torch on every build; only the maxima and segments go through the compiled operators.
Source: rusty1s/pytorch_scatter torch_scatter/scatter.py, version 2.1.2.
"""

from __future__ import annotations

from typing import Any


def look(bench: Any) -> None:
    """1000 rows fall into 60 groups of uneven sizes, one of them empty."""
    import torch_scatter

    torch = bench.torch
    rows = bench.random(1000, 8, seed=1)
    groups = torch.randint(0, 59, (1000,), generator=torch.Generator().manual_seed(2)).to(bench.device)
    exact = rows.double().cpu()
    sums = torch.zeros(60, 8, dtype=torch.float64).index_add(0, groups.cpu(), exact)
    got = bench.run(lambda: torch_scatter.scatter_sum(rows, groups, dim=0, dim_size=60))
    bench.agree("scatter_sum", got, sums, "float32-segment")
    greatest = bench.run(lambda: torch_scatter.scatter_max(rows, groups, dim=0, dim_size=59)[0])
    index = groups.cpu()[:, None].expand(-1, 8)
    wanted = torch.zeros(59, 8, dtype=torch.float64).scatter_reduce(0, index, exact, "amax", include_self=False)
    bench.agree("scatter_max", greatest, wanted, "float32-copy")
    order = groups.argsort(stable=True)
    ends = torch.cat([groups.new_zeros(1), torch.bincount(groups, minlength=60).cumsum(0)])
    segments = bench.run(lambda: torch_scatter.segment_csr(rows[order], ends, reduce="sum"))
    bench.agree("segment_csr", segments, sums, "float32-segment")
