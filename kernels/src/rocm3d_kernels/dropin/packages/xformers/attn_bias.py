"""xformers.ops.fmha.attn_bias: attention masks as objects that become a matrix only in `materialize`.

Masks for paged caches are not covered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from rocm3d_kernels.dropin.packages.xformers.block_diagonal import (
    BlockDiagonalCausalFromBottomRightMask,
    BlockDiagonalCausalLocalAttentionFromBottomRightMask,
    BlockDiagonalCausalLocalAttentionMask,
    BlockDiagonalCausalLocalAttentionPaddedKeysMask,
    BlockDiagonalCausalMask,
    BlockDiagonalCausalWithOffsetGappyKeysMask,
    BlockDiagonalCausalWithOffsetPaddedKeysMask,
    BlockDiagonalGappyKeysMask,
    BlockDiagonalLocalAttentionPaddedKeysMask,
    BlockDiagonalMask,
    BlockDiagonalPaddedKeysMask,
)
from rocm3d_kernels.dropin.packages.xformers.window import AttentionBias

__all__ = [
    "AttentionBias",
    "BlockDiagonalCausalFromBottomRightMask",
    "BlockDiagonalCausalLocalAttentionFromBottomRightMask",
    "BlockDiagonalCausalLocalAttentionMask",
    "BlockDiagonalCausalLocalAttentionPaddedKeysMask",
    "BlockDiagonalCausalMask",
    "BlockDiagonalCausalWithOffsetGappyKeysMask",
    "BlockDiagonalCausalWithOffsetPaddedKeysMask",
    "BlockDiagonalGappyKeysMask",
    "BlockDiagonalLocalAttentionPaddedKeysMask",
    "BlockDiagonalMask",
    "BlockDiagonalPaddedKeysMask",
    "LocalAttentionFromBottomRightMask",
    "LowerTriangularFromBottomRightLocalAttentionMask",
    "LowerTriangularFromBottomRightMask",
    "LowerTriangularMask",
    "LowerTriangularMaskWithTensorBias",
]


class LowerTriangularMask(AttentionBias):
    """Causal, aligned to the first query and key."""

    def __init__(self, device: Any = None) -> None:
        """The device is ignored."""

    def limits(self) -> tuple[int, int, bool]:
        """No left limit, no key after the query's position."""
        return -1, 0, True

    def add_bias(self, bias: torch.Tensor) -> LowerTriangularMaskWithTensorBias:
        """The same mask with a tensor that is added to the scores."""
        return LowerTriangularMaskWithTensorBias(bias)


class LowerTriangularMaskWithTensorBias(LowerTriangularMask):
    """Causal, aligned to the first query and key, with a tensor that is added to the scores."""

    def __init__(self, bias: torch.Tensor) -> None:
        super().__init__()
        self._bias = bias

    def to(self, device: torch.device | str) -> LowerTriangularMaskWithTensorBias:
        """A copy with the tensor on a device."""
        return LowerTriangularMaskWithTensorBias(self._bias.to(device))

    def materialize(
        self, shape: Sequence[int], dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
    ) -> torch.Tensor:
        """The bias tensor with minus infinity at masked keys."""
        return super().materialize(shape, dtype, device) + self._bias.to(device, dtype)


@dataclass
class LowerTriangularFromBottomRightMask(AttentionBias):
    """Causal, aligned to the last query and key."""

    def limits(self) -> tuple[int, int, bool]:
        """No left limit, no key after the query's position."""
        return -1, 0, False

    def make_local_attention(self, window_size: int) -> LowerTriangularFromBottomRightLocalAttentionMask:
        """The same mask, limited to `window_size` keys per query."""
        return LowerTriangularFromBottomRightLocalAttentionMask(window_size)


@dataclass
class LowerTriangularFromBottomRightLocalAttentionMask(LowerTriangularFromBottomRightMask):
    """Causal, aligned to the last query and key, limited to the nearest keys."""

    _window_size: int = 1

    def __post_init__(self) -> None:
        """Raises if the window is empty."""
        if self._window_size <= 0:
            raise ValueError(f"window_size is {self._window_size}; it must be at least 1")

    def limits(self) -> tuple[int, int, bool]:
        """The window includes the query's own position."""
        return self._window_size - 1, 0, False


@dataclass
class LocalAttentionFromBottomRightMask(AttentionBias):
    """A window around the query's position, aligned to the last query and key."""

    window_left: int
    window_right: int

    def __post_init__(self) -> None:
        """Raises if a side has no limit."""
        if self.window_left < 0 or self.window_right < 0:
            raise ValueError(
                f"window_left is {self.window_left}, window_right is {self.window_right}; both must be at least 0"
            )

    def limits(self) -> tuple[int, int, bool]:
        """Limits on both sides, aligned to the last query and key."""
        return self.window_left, self.window_right, False

    def to(self, device: torch.device | str) -> LocalAttentionFromBottomRightMask:  # noqa: ARG002
        """A copy; there is no tensor to move."""
        return replace(self)
