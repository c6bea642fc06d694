"""The kernels of rasterization, for the AMD gate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rocm3d_kernels.gate_kernel import GateKernel
from rocm3d_kernels.image_formation import LARGEST_ALPHA
from rocm3d_kernels.projection.launch import COARSE, FINE
from rocm3d_kernels.raster.triton import rocm3d_raster_backward, rocm3d_raster_forward, rocm3d_sum_pairs

_READ = {**dict.fromkeys(("records", "colors", "backgrounds"), "*fp32"), "gaussians": "*i32", "offsets": "*i32"}
_NUMBERS = ("per_image", "color_image", "width", "height", "tiles_x", "tiles_image", "channels")
_FORWARD = {
    **_READ,
    "masks": "*i1",
    **dict.fromkeys(("out_colors", "out_alphas", "final_Ts"), "*fp32"),
    "last_ids": "*i32",
    **dict.fromkeys(_NUMBERS, "i32"),
}
_BACKWARD = {
    **_READ,
    "final_Ts": "*fp32",
    "last_ids": "*i32",
    **dict.fromkeys(("v_out_colors", "v_out_alphas", "v_records"), "*fp32"),
    **dict.fromkeys(("rows", *_NUMBERS), "i32"),
}
_SUM = {"pairs": "*fp32", "order": "*i64", "bounds": "*i32", "sums": "*fp32"}


def _shared_constants(channels: int, side: int, *, background: bool) -> dict[str, Any]:
    constants = {"COLOR_ROW": channels, "D": channels, "CAP": LARGEST_ALPHA, "TILE": side, "SLOTS": 0}
    constants |= {"HAS_BACKGROUND": background}
    return constants if background else {**constants, "backgrounds": None}


def _with_slots(declared: GateKernel) -> GateKernel:
    """The same kernel for lists with slots, whose positions are int16."""
    short = dict.fromkeys({"last_ids"} & declared.arguments.keys(), "*i16")
    return replace(declared, arguments={**declared.arguments, **short}, constants={**declared.constants, "SLOTS": 128})


def _forward(
    channels: int, side: int, *, background: bool = False, keep: bool = True, quick: bool = False
) -> GateKernel:
    constants = _shared_constants(channels, side, background=background)
    constants |= {"HAS_MASKS": False, "masks": None, "KEEP": keep}
    constants |= {} if keep else {"final_Ts": None, "last_ids": None}
    return GateKernel("raster", rocm3d_raster_forward, _FORWARD, constants, quick=quick)


def _backward(
    channels: int, side: int, *, background: bool = False, more: bool = False, quick: bool = False
) -> GateKernel:
    """`more`: with gradients of alphas, with absgrad, and by pair."""
    constants = _shared_constants(channels, side, background=background)
    constants |= dict.fromkeys(("HAS_ALPHAS", "ABSOLUTE", "PER_PAIR"), more)
    constants |= {} if more else {"v_out_alphas": None}
    return GateKernel("raster", rocm3d_raster_backward, _BACKWARD, constants, quick=quick)


KERNELS = [
    _forward(3, COARSE, quick=True),
    _forward(3, FINE, background=True),
    _forward(1, COARSE, keep=False),
    _forward(4, COARSE, background=True),
    _backward(3, COARSE, quick=True),
    _backward(3, FINE, background=True),
    _backward(1, COARSE, more=True),
    _backward(4, COARSE, background=True, more=True),
    _with_slots(_forward(3, COARSE)),
    _with_slots(_backward(3, COARSE)),
    GateKernel("raster", rocm3d_sum_pairs, _SUM, {"ROW": 9}),
]
