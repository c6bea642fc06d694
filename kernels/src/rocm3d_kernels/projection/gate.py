"""The projection kernels, for the AMD gate."""

from __future__ import annotations

from rocm3d_kernels.gate_kernel import GateKernel
from rocm3d_kernels.projection.launch import COARSE, FINE
from rocm3d_kernels.projection.triton import rocm3d_project_backward, rocm3d_project_forward

_GAUSSIANS = dict.fromkeys(("means", "covars", "quats", "scales", "opacities", "viewmats", "intrinsics"), "*fp32")
_SIZE = dict.fromkeys(("count", "cameras", "width", "height"), "i32")
_FORWARD = {
    **_GAUSSIANS,
    **dict.fromkeys(("records", "keys", "cleared"), "*fp32"),
    **dict.fromkeys(("radii", "counts"), "*i32"),
    "totals": "*i64",
    **_SIZE,
    **dict.fromkeys(("eps2d", "near", "far", "radius_clip"), "fp32"),
    **dict.fromkeys(("all_rows", "clear"), "i32"),
}
_GRADIENTS = ("v_means", "v_covars", "v_quats", "v_scales", "v_opacities", "v_viewmats")
_BACKWARD = {
    **_GAUSSIANS,
    "radii": "*i32",
    **dict.fromkeys(("v_means2d", "v_shapes", "v_depths", *_GRADIENTS), "*fp32"),
    **dict.fromkeys(("step_means2d", "step_shapes", "step_depths"), "i32"),
    **_SIZE,
    "eps2d": "fp32",
}

_PLAIN = {"HAS_OPACITIES": True, "COMPENSATE": False, "ORTHO": False, "FROM_COVARS": False, "covars": None}
_COVARS = {**_PLAIN, "FROM_COVARS": True, "quats": None, "scales": None}
del _COVARS["covars"]
_KEEP = {"AHEAD": False, "cleared": None}
_COUNT = {"COARSE": COARSE, "FINE": FINE, **_KEEP}
_AHEAD = {"COARSE": COARSE, "FINE": FINE, "AHEAD": True, "keys": None, "totals": None}
_NO_COUNT = {"COARSE": 0, "FINE": FINE, "counts": None, "keys": None, "totals": None, **_KEEP}
_BACK_NONE = {"v_covars": None, "v_depths": None, "v_viewmats": None}
_BACK = {"HAS_DEPTHS": False, "NEED_VIEWMATS": False, "SHAPES_AT": 2, **_BACK_NONE}
_BACK_COVARS = {**_BACK, "v_quats": None, "v_scales": None}
del _BACK_COVARS["v_covars"]
_BACK_ALL = {**_PLAIN, "HAS_DEPTHS": True, "NEED_VIEWMATS": True, "SHAPES_AT": 0, "v_covars": None}

KERNELS = [
    GateKernel("projection", rocm3d_project_forward, _FORWARD, {**_PLAIN, **_COUNT}),
    GateKernel("projection", rocm3d_project_forward, _FORWARD, {**_PLAIN, **_AHEAD}, quick=False),
    GateKernel("projection", rocm3d_project_forward, _FORWARD, {**_COVARS, **_COUNT}, quick=False),
    GateKernel("projection", rocm3d_project_forward, _FORWARD, {**_PLAIN, "COMPENSATE": True, **_COUNT}, quick=False),
    GateKernel("projection", rocm3d_project_forward, _FORWARD, {**_PLAIN, "ORTHO": True, **_NO_COUNT}, quick=False),
    GateKernel("projection", rocm3d_project_backward, _BACKWARD, {**_PLAIN, **_BACK}),
    GateKernel("projection", rocm3d_project_backward, _BACKWARD, {**_COVARS, **_BACK_COVARS}, quick=False),
    GateKernel(
        "projection", rocm3d_project_backward, _BACKWARD, {**_PLAIN, "COMPENSATE": True, **_BACK_ALL}, quick=False
    ),
    GateKernel("projection", rocm3d_project_backward, _BACKWARD, {**_PLAIN, "ORTHO": True, **_BACK_ALL}, quick=False),
]
