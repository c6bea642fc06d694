"""The kernel that makes pairs of tile and Gaussian, for the AMD gate."""

from __future__ import annotations

from rocm3d_kernels.declared import Declared
from rocm3d_kernels.projection.launch import COARSE, FINE
from rocm3d_kernels.tiles.triton import emit_tiles

_EMIT = {
    "records": "*fp32",
    "order": "*i64",
    **dict.fromkeys(("ends", "counts", "gaussians"), "*i32"),
    **dict.fromkeys(("seen", "per_image", "tiles_x", "tiles_y", "all_tiles"), "i32"),
}
_WHOLE = {"ORDERED": False, "SHORT": False, "order": None}
_SORTED = {"ORDERED": True, "TILE": FINE}

KERNELS = [
    Declared("tiles", emit_tiles, {**_EMIT, "tiles": "*i64"}, {**_WHOLE, "TILE": FINE}),
    Declared("tiles", emit_tiles, {**_EMIT, "tiles": "*i64"}, {**_WHOLE, "TILE": COARSE}, quick=False),
    Declared("tiles", emit_tiles, {**_EMIT, "tiles": "*i16"}, {**_SORTED, "SHORT": True}, quick=False),
    Declared("tiles", emit_tiles, {**_EMIT, "tiles": "*i32"}, {**_SORTED, "SHORT": False}, quick=False),
]
