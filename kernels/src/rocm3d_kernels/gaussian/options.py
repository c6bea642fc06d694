"""What is drawn, and how."""

from __future__ import annotations

from typing import NamedTuple

from rocm3d_kernels.image_formation import LARGEST_ALPHA
from rocm3d_kernels.projection import Settings


class Options(NamedTuple):
    """Choices of one rendering that hold for all its Gaussians."""

    settings: Settings
    degree: int | None = None  # of spherical harmonics; None: colours are colours
    with_colors: bool = True
    with_depths: bool = False  # as the last channel
    absgrad: bool = False
    deterministic: bool = False
    inverse_depths: bool = False  # instead of depths
    cap: float = LARGEST_ALPHA
