"""The kernels of spherical harmonics, for the AMD gate."""

from __future__ import annotations

from rocm3d_kernels.gate_kernel import GateKernel
from rocm3d_kernels.harmonics.triton import rocm3d_harmonics_backward, rocm3d_harmonics_forward

_READ = {**dict.fromkeys(("points", "origins", "coefficients"), "*fp32"), "radii": "*i32"}
_NUMBERS = dict.fromkeys(("count", "cameras", "per_image", "total"), "i32")
_FORWARD = {**_READ, "values": "*fp32", **_NUMBERS}
_WRITTEN = ("values", "v_values", "v_points", "v_origins", "v_coefficients")
_BACKWARD = {**_READ, **dict.fromkeys(_WRITTEN, "*fp32"), **_NUMBERS, "v_values_step": "i32"}

# A rendering of one image.
_COLORS = {"AS_COLORS": True, "HAS_RADII": True}
_ONE = {**_COLORS, "NEED_POINTS": True, "NEED_ORIGINS": False, "ADD": False, "v_origins": None}
# Gradients of several cameras; and of coefficients only.
_MANY = {**_COLORS, "NEED_POINTS": True, "NEED_ORIGINS": True, "ADD": True}
_PLAIN = {"AS_COLORS": False, "HAS_RADII": False, "radii": None}
_LEAST = {**_PLAIN, "NEED_POINTS": False, "NEED_ORIGINS": False, "ADD": False, "v_points": None, "v_origins": None}

KERNELS = [
    GateKernel("harmonics", rocm3d_harmonics_forward, _FORWARD, {"BASES": 16, **_COLORS}),
    *(
        GateKernel("harmonics", rocm3d_harmonics_forward, _FORWARD, {"BASES": n, **_PLAIN}, quick=False)
        for n in (1, 25)
    ),
    GateKernel("harmonics", rocm3d_harmonics_backward, _BACKWARD, {"BASES": 16, "TOTAL": 16, **_ONE}),
    GateKernel("harmonics", rocm3d_harmonics_backward, _BACKWARD, {"BASES": 1, "TOTAL": 16, **_LEAST}, quick=False),
    GateKernel("harmonics", rocm3d_harmonics_backward, _BACKWARD, {"BASES": 25, "TOTAL": 25, **_MANY}, quick=False),
]
