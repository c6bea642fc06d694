"""The kernels of surfels, for the AMD gate."""

from __future__ import annotations

from typing import Any

from rocm3d_kernels.gate_kernel import GateKernel
from rocm3d_kernels.surfels.reference import TILE
from rocm3d_kernels.surfels.triton import rocm3d_draw_surfels, rocm3d_draw_surfels_backward, rocm3d_project_surfels

_PROJECT = {
    **dict.fromkeys(("means", "quats", "scales", "opacities", "viewmats", "intrinsics", "records"), "*fp32"),
    "radii": "*i32",
    **dict.fromkeys(("count", "cameras", "width", "height"), "i32"),
    **dict.fromkeys(("near", "far", "radius_clip"), "fp32"),
}
_NUMBERS = dict.fromkeys(("per_image", "color_image", "width", "height", "tiles_x", "tiles_image", "channels"), "i32")
_DRAW = {
    **dict.fromkeys(("records", "colors", "backgrounds"), "*fp32"),
    **dict.fromkeys(("surfels", "offsets"), "*i32"),
    **dict.fromkeys(("out_colors", "out_alphas", "out_normals", "out_distortion", "out_median"), "*fp32"),
    **dict.fromkeys(("final_Ts", "depth_sums"), "*fp32"),
    "last_ids": "*i32",
    **_NUMBERS,
}
_GRADIENTS = ("v_out_colors", "v_out_alphas", "v_out_normals", "v_out_distortion", "v_out_median")
_BACKWARD = {
    **dict.fromkeys(("records", "colors", "backgrounds"), "*fp32"),
    **dict.fromkeys(("surfels", "offsets", "last_ids"), "*i32"),
    **dict.fromkeys(("final_Ts", "depth_sums", *_GRADIENTS, "v_records", "v_colors"), "*fp32"),
    **_NUMBERS,
}


def _draw_kernel(
    kernel: Any, channels: int, *, background: bool, geometry: bool = True, quick: bool = False
) -> GateKernel:
    constants: dict[str, Any] = {"COLOR_ROW": channels, "D": channels, "TILE": TILE, "GEOMETRY": geometry}
    constants |= {"HAS_BACKGROUND": background} | ({} if background else {"backgrounds": None})
    arguments = _DRAW if kernel is rocm3d_draw_surfels else _BACKWARD
    return GateKernel("surfels", kernel, arguments, constants, quick=quick)


KERNELS = [
    GateKernel("surfels", rocm3d_project_surfels, _PROJECT),
    _draw_kernel(rocm3d_draw_surfels, 3, background=False, quick=True),
    _draw_kernel(rocm3d_draw_surfels, 4, background=True),
    _draw_kernel(rocm3d_draw_surfels, 1, background=False),
    _draw_kernel(rocm3d_draw_surfels, 2, background=True, geometry=False),
    _draw_kernel(rocm3d_draw_surfels_backward, 3, background=False, quick=True),
    _draw_kernel(rocm3d_draw_surfels_backward, 4, background=True),
    _draw_kernel(rocm3d_draw_surfels_backward, 1, background=False),
    _draw_kernel(rocm3d_draw_surfels_backward, 2, background=True, geometry=False),
]
