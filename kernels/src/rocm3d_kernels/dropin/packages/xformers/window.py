"""What all biases have: limits of a window, and the matrix that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


class AttentionBias:
    """Something other than a tensor that says which keys a query sees."""

    def limits(self) -> tuple[int, int, bool]:
        """Left and right of the query's place, -1 for no limit, and whether that is counted from the first ones."""
        return -1, -1, False

    def to(self, device: torch.device | str) -> Any:  # noqa: ARG002
        """There is no tensor."""
        return self

    def materialize(
        self, shape: Sequence[int], dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
    ) -> torch.Tensor:
        """The matrix: zero where a query sees a key, else minus infinity."""
        return window(*self.limits(), int(shape[-2]), int(shape[-1]), dtype, device).expand(tuple(shape))


def window(
    left: int, right: int, top: bool, queries: int, keys: int, dtype: torch.dtype, device: torch.device | str
) -> torch.Tensor:
    """[queries, keys]."""
    place = torch.arange(queries, device=device)[:, None] + (0 if top else keys - queries)
    key = torch.arange(keys, device=device)
    hidden = torch.zeros(queries, keys, dtype=torch.bool, device=device)
    if left >= 0:
        hidden |= key < place - left
    if right >= 0:
        hidden |= key > place + right
    return torch.zeros(queries, keys, dtype=dtype, device=device).masked_fill(hidden, -torch.inf)
