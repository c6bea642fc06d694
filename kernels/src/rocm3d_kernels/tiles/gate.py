"""Kernels that make and sort pairs of tile and Gaussian, for the AMD gate."""

from __future__ import annotations

from rocm3d_kernels.gate_kernel import GateKernel
from rocm3d_kernels.projection.launch import COARSE, FINE
from rocm3d_kernels.tiles.triton import (
    BINS,
    rocm3d_begin_bins,
    rocm3d_emit_tiles,
    rocm3d_join_halves,
    rocm3d_sort_bins,
    rocm3d_sort_slots,
)
from rocm3d_kernels.tuning import for_target

_EMIT = {
    "records": "*fp32",
    "order": "*i64",
    **dict.fromkeys(("ends", "counts", "gaussians"), "*i32"),
    **dict.fromkeys(("rows", "per_image", "tiles_x", "tiles_y", "all_tiles", "fill"), "i32"),
}
_WHOLE = {"ORDERED": False, "SLOTS": 0, "order": None}
_SORTED = {"ORDERED": True, "SLOTS": 0, "TILE": FINE}
_SLOTTED = {**_WHOLE, "SLOTS": 128, "ends": None}
_BINNED = {**_WHOLE, "SLOTS": BINS}
_BEGIN = {**dict.fromkeys(("counters", "begins", "longest_and_total"), "*i32"), "all_tiles": "i32"}
_SORT_BINS = {"keys": "*i64", **dict.fromkeys(("begins", "gaussians"), "*i32")}
_JOIN = {
    **dict.fromkeys(("gaussians", "near", "far", "out"), "*i32"),
    **dict.fromkeys(("all_tiles", "half", "pairs"), "i32"),
}
_SORT = {"slots": "*i64", **dict.fromkeys(("counters", "gaussians", "longest"), "*i32")}

KERNELS = [
    GateKernel("tiles", rocm3d_emit_tiles, {**_EMIT, "tiles": "*i64"}, {**_WHOLE, "TILE": FINE}),
    GateKernel("tiles", rocm3d_emit_tiles, {**_EMIT, "tiles": "*i64"}, {**_WHOLE, "TILE": COARSE}, quick=False),
    GateKernel("tiles", rocm3d_emit_tiles, {**_EMIT, "tiles": "*i16"}, _SORTED, quick=False),
    GateKernel("tiles", rocm3d_emit_tiles, {**_EMIT, "tiles": "*i32"}, _SORTED, quick=False),
    GateKernel("tiles", rocm3d_emit_tiles, {**_EMIT, "tiles": "*i64"}, {**_SLOTTED, "TILE": COARSE}, quick=False),
    GateKernel("tiles", rocm3d_emit_tiles, {**_EMIT, "tiles": "*i64"}, {**_BINNED, "TILE": FINE}, quick=False),
    GateKernel("tiles", rocm3d_begin_bins, _BEGIN, {}),
    GateKernel("tiles", rocm3d_sort_bins, _SORT_BINS, {"SIZE": 256}),
    GateKernel(
        "tiles",
        rocm3d_sort_bins,
        _SORT_BINS,
        {"SIZE": for_target("tiles", "lists", "default")["MOST_BIN"]},
        quick=False,
    ),
    GateKernel("tiles", rocm3d_sort_slots, _SORT, {"SLOTS": 128}),
    GateKernel("tiles", rocm3d_sort_slots, _SORT, {"SLOTS": 1024}, quick=False),
    GateKernel("tiles", rocm3d_join_halves, {**_JOIN, "tiles": "*i16"}, {}),
    GateKernel("tiles", rocm3d_join_halves, {**_JOIN, "tiles": "*i32"}, {}, quick=False),
]
