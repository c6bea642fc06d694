"""Checks of knn for `rocm3d smoke`: against all pairs in float64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from rocm3d_kernels.knn import mean_squared_distance, reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d_kernels.operation_checks import Check


def checks(device: torch.device | str) -> Iterator[Check]:
    """Uses more points than one box holds."""
    points = torch.rand(3000, 3, generator=torch.Generator().manual_seed(1))
    expected, inputs = reference.mean_squared_distance(points.double()), points.to(device)
    yield "knn", lambda: mean_squared_distance(inputs), expected, "float32-distance"
