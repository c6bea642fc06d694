"""gsplat.rendering: `rasterization` with gsplat's signature; arguments that are not covered raise an error."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels import gaussian
from rocm3d_kernels.dropin.declaration import DOCS
from rocm3d_kernels.dropin.packages.gsplat.surfels import rasterization_2dgs

__all__ = ["rasterization", "rasterization_2dgs"]

# Arguments that are supported with this value only.
SUPPORTED_VALUES: dict[str, Any] = {
    "sparse_grad": False,
    "distributed": False,
    "with_ut": False,
    "with_eval3d": False,
    "radial_coeffs": None,
    "tangential_coeffs": None,
    "thin_prism_coeffs": None,
    "ftheta_coeffs": None,
    "viewmats_rs": None,
}
# Ignored: the kernels choose tile size, channel chunks and sort themselves.
IGNORED = {"tile_size", "channel_chunk", "segmented", "rolling_shutter"}


def rasterization(
    means: torch.Tensor,
    quats: torch.Tensor | None,
    scales: torch.Tensor | None,
    opacities: torch.Tensor,
    colors: torch.Tensor,
    viewmats: torch.Tensor,
    Ks: torch.Tensor,
    width: int,
    height: int,
    near_plane: float = 0.01,
    far_plane: float = 1e10,
    radius_clip: float = 0.0,
    eps2d: float = 0.3,
    sh_degree: int | None = None,
    packed: bool = True,
    tile_size: int = 16,  # noqa: ARG001
    backgrounds: torch.Tensor | None = None,
    render_mode: str = "RGB",
    sparse_grad: bool = False,
    absgrad: bool = False,
    rasterize_mode: str = "classic",
    channel_chunk: int = 32,  # noqa: ARG001
    distributed: bool = False,
    camera_model: str = "pinhole",
    segmented: bool = False,  # noqa: ARG001
    covars: torch.Tensor | None = None,
    with_ut: bool = False,
    with_eval3d: bool = False,
    **options: Any,
) -> tuple[torch.Tensor, torch.Tensor, dict[str, Any]]:
    """Images [..., C, height, width, X], alphas and meta; `meta["tile_size"]` is the tile size that was used."""
    _check_supported(
        sparse_grad=sparse_grad, distributed=distributed, with_ut=with_ut, with_eval3d=with_eval3d, **options
    )
    if rasterize_mode not in ("classic", "antialiased"):
        raise ValueError(f"rasterize_mode is {rasterize_mode!r}; choose classic or antialiased")
    return gaussian.rasterization(
        means,
        quats,
        scales,
        opacities,
        colors,
        viewmats,
        Ks,
        width,
        height,
        near_plane=near_plane,
        far_plane=far_plane,
        radius_clip=radius_clip,
        eps2d=eps2d,
        sh_degree=sh_degree,
        packed=packed,
        backgrounds=backgrounds,
        render_mode=render_mode,
        absgrad=absgrad,
        antialiased=rasterize_mode == "antialiased",
        camera_model=camera_model,
        covars=covars,
    )


def _check_supported(**options: Any) -> None:
    for name, value in options.items():
        if name not in SUPPORTED_VALUES and name not in IGNORED:
            raise TypeError(f"rasterization() got an unexpected keyword argument {name!r}")
        if name == "rolling_shutter" and getattr(value, "name", "GLOBAL") != "GLOBAL":
            raise NotImplementedError(f"rolling_shutter {value.name} is not covered by rocm3d-kernels: see {DOCS}")
        if name in SUPPORTED_VALUES and value is not SUPPORTED_VALUES[name] and value != SUPPORTED_VALUES[name]:
            raise NotImplementedError(f"{name} is not covered by rocm3d-kernels: see {DOCS}")
