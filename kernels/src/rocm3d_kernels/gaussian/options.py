"""Options of one rendering."""

from __future__ import annotations

from typing import NamedTuple

from rocm3d_kernels.image_formation import LARGEST_ALPHA
from rocm3d_kernels.projection import CameraSettings


class RenderOptions(NamedTuple):
    """Options that hold for all Gaussians of a rendering."""

    settings: CameraSettings
    degree: int | None = None  # of spherical harmonics; None: plain colours
    with_colors: bool = True
    with_depths: bool = False  # as the last channel
    absgrad: bool = False
    deterministic: bool = False
    inverse_depths: bool = False  # the depth channel is 1 / depth
    cap: float = LARGEST_ALPHA  # largest alpha
