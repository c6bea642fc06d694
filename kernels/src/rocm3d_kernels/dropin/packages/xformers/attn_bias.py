"""xformers.ops.fmha.attn_bias: which keys a query sees, as objects that are never a matrix unless somebody asks.

Masks for caches in pages are not covered.
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
    """Causal, counted from the first query and key."""

    def __init__(self, device: Any = None) -> None:
        """The device means nothing."""

    def limits(self) -> tuple[int, int, bool]:
        """No left limit, nothing after the query's own place."""
        return -1, 0, True

    def add_bias(self, bias: torch.Tensor) -> LowerTriangularMaskWithTensorBias:
        """With a tensor that is added to the scores."""
        return LowerTriangularMaskWithTensorBias(bias)


class LowerTriangularMaskWithTensorBias(LowerTriangularMask):
    """Causal, counted from the first query and key, and a tensor that is added to the scores."""

    def __init__(self, bias: torch.Tensor) -> None:
        super().__init__()
        self._bias = bias

    def to(self, device: torch.device | str) -> LowerTriangularMaskWithTensorBias:
        """The tensor on a device."""
        return LowerTriangularMaskWithTensorBias(self._bias.to(device))

    def materialize(
        self, shape: Sequence[int], dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
    ) -> torch.Tensor:
        """The matrix."""
        return super().materialize(shape, dtype, device) + self._bias.to(device, dtype)


@dataclass
class LowerTriangularFromBottomRightMask(AttentionBias):
    """Causal, counted from the last query and key."""

    def limits(self) -> tuple[int, int, bool]:
        """No left limit, nothing after the query's own place."""
        return -1, 0, False

    def make_local_attention(self, window_size: int) -> LowerTriangularFromBottomRightLocalAttentionMask:
        """With this many keys for each query."""
        return LowerTriangularFromBottomRightLocalAttentionMask(window_size)


@dataclass
class LowerTriangularFromBottomRightLocalAttentionMask(LowerTriangularFromBottomRightMask):
    """Causal, counted from the last query and key, the nearest keys only."""

    _window_size: int = 1

    def __post_init__(self) -> None:
        """At least the own place."""
        if self._window_size <= 0:
            raise ValueError(f"window_size is {self._window_size}; at least 1 key is seen")

    def limits(self) -> tuple[int, int, bool]:
        """The own place is one of the window."""
        return self._window_size - 1, 0, False


@dataclass
class LocalAttentionFromBottomRightMask(AttentionBias):
    """A window around the query's place, counted from the last query and key."""

    window_left: int
    window_right: int

    def __post_init__(self) -> None:
        """Both sides are limited."""
        if self.window_left < 0 or self.window_right < 0:
            raise ValueError(
                f"window_left and window_right are {self.window_left}, {self.window_right}; both from 0 on"
            )

    def limits(self) -> tuple[int, int, bool]:
        """Both sides."""
        return self.window_left, self.window_right, False

    def to(self, device: torch.device | str) -> LocalAttentionFromBottomRightMask:  # noqa: ARG002
        """There is no tensor."""
        return replace(self)
