"""The base class of all biases: limits of a window, and the equivalent matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


class AttentionBias:
    """A mask that is not a tensor; this base class masks nothing."""

    def limits(self) -> tuple[int, int, bool]:
        """Keys left and right of the query's position (-1: no limit), and whether aligned to the first query."""
        return -1, -1, False

    def to(self, device: torch.device | str) -> Any:  # noqa: ARG002
        """Itself; there is no tensor to move."""
        return self

    def materialize(
        self, shape: Sequence[int], dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
    ) -> torch.Tensor:
        """The matrix: zero for visible keys, else minus infinity."""
        return window_matrix(*self.limits(), int(shape[-2]), int(shape[-1]), dtype, device).expand(tuple(shape))


def window_matrix(
    left: int, right: int, top: bool, queries: int, keys: int, dtype: torch.dtype, device: torch.device | str
) -> torch.Tensor:
    """The matrix [queries, keys]: zero for visible keys, else minus infinity."""
    position = torch.arange(queries, device=device)[:, None] + (0 if top else keys - queries)
    key = torch.arange(keys, device=device)
    hidden = torch.zeros(queries, keys, dtype=torch.bool, device=device)
    if left >= 0:
        hidden |= key < position - left
    if right >= 0:
        hidden |= key > position + right
    return torch.zeros(queries, keys, dtype=dtype, device=device).masked_fill(hidden, -torch.inf)
