"""The rendering as one torch.library operator, for torch.compile, export and fake tensors.

Eager calls do not use it. An operator can save only its inputs and outputs for backward, and the size of the tile
lists is not known in advance. Therefore backward renders once more.
"""

from __future__ import annotations

from typing import Any, Optional

import torch

from rocm3d_kernels.gaussian import ways
from rocm3d_kernels.gaussian.options import Options
from rocm3d_kernels.projection import Gaussians, Settings
from rocm3d_kernels.registration import operation

# Columns of the projected Gaussians: mean x and y, conic (3), opacity, depth.
TOLD = 7
TENSORS = 10


def rendered(
    gaussians: Gaussians,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    options: Options,
    *,
    packed: bool,
    watched: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor, dict[str, Any]]:
    """As `rasterize` of gaussian/ways.py; the meta dict has no tile lists and no gradients."""
    if packed:
        raise NotImplementedError("gaussian: packed is not supported under torch.compile: its size depends on the data")
    if options.absgrad:
        raise NotImplementedError("gaussian: absgrad is not supported under torch.compile: it is a tensor attribute")
    settings, *rest = options
    given = (*gaussians, colors, backgrounds, watched, *settings, *rest)
    image, alphas, radii, told = torch.ops.rocm3d_kernels.render(*given)
    names = {"means2d": told[..., 0:2], "conics": told[..., 2:5], "opacities": told[..., 5], "depths": told[..., 6]}
    return image, alphas, {**names, "radii": radii, "batch_ids": None, "camera_ids": None, "gaussian_ids": None}


# torch.library does not support newer annotations.
def _run(
    means: torch.Tensor,
    covars: Optional[torch.Tensor],  # noqa: UP045
    quats: Optional[torch.Tensor],  # noqa: UP045
    scales: Optional[torch.Tensor],  # noqa: UP045
    opacities: Optional[torch.Tensor],  # noqa: UP045
    viewmats: torch.Tensor,
    intrinsics: torch.Tensor,
    colors: torch.Tensor,
    backgrounds: Optional[torch.Tensor],  # noqa: UP045
    watched: Optional[torch.Tensor],  # noqa: UP045
    width: int,
    height: int,
    eps2d: float,
    near: float,
    far: float,
    radius_clip: float,
    compensate: bool,
    camera: str,
    degree: Optional[int],  # noqa: UP045
    with_colors: bool,
    with_depths: bool,
    absgrad: bool,
    deterministic: bool,
    inverse_depths: bool,
    cap: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    settings = Settings(width, height, eps2d, near, far, radius_clip, compensate, camera)
    options = Options(settings, degree, with_colors, with_depths, absgrad, deterministic, inverse_depths, cap)
    gaussians = Gaussians(means, covars, quats, scales, opacities, viewmats, intrinsics)
    image, alphas, meta = ways.chosen(gaussians, colors, backgrounds, options, packed=False, watched=watched)
    parts = (meta["means2d"], meta["conics"], meta["opacities"][..., None], meta["depths"][..., None])
    # Copies, as the fake kernel declares: tensors of a small scene share one buffer.
    return image, alphas, meta["radii"].clone(), torch.cat([one.detach() for one in parts], dim=-1)


def _run_fake(*given: Any) -> tuple[torch.Tensor, ...]:
    means, colors, (width, height) = given[0], given[7], given[TENSORS : TENSORS + 2]
    degree, with_colors, with_depths = given[TENSORS + 8 : TENSORS + 11]
    images = given[5].numel() // 16
    channels = (3 if degree is not None else colors.shape[-1]) if with_colors else 0
    shape = (images, height, width)
    return (
        means.new_empty((*shape, channels + int(with_depths))),
        means.new_empty(shape),
        means.new_empty((images, means.shape[-2], 2), dtype=torch.int32),
        means.new_empty((images, means.shape[-2], TOLD)),
    )


def _run_backward(
    given: Optional[torch.Tensor],  # noqa: UP045
    given_alphas: Optional[torch.Tensor],  # noqa: UP045
    needs: list[bool],
    means: torch.Tensor,
    covars: Optional[torch.Tensor],  # noqa: UP045
    quats: Optional[torch.Tensor],  # noqa: UP045
    scales: Optional[torch.Tensor],  # noqa: UP045
    opacities: Optional[torch.Tensor],  # noqa: UP045
    viewmats: torch.Tensor,
    intrinsics: torch.Tensor,
    colors: torch.Tensor,
    backgrounds: Optional[torch.Tensor],  # noqa: UP045
    watched: Optional[torch.Tensor],  # noqa: UP045
    width: int,
    height: int,
    eps2d: float,
    near: float,
    far: float,
    radius_clip: float,
    compensate: bool,
    camera: str,
    degree: Optional[int],  # noqa: UP045
    with_colors: bool,
    with_depths: bool,
    absgrad: bool,
    deterministic: bool,
    inverse_depths: bool,
    cap: float,
) -> list[torch.Tensor]:
    settings = Settings(width, height, eps2d, near, far, radius_clip, compensate, camera)
    options = Options(settings, degree, with_colors, with_depths, absgrad, deterministic, inverse_depths, cap)
    tensors = (means, covars, quats, scales, opacities, viewmats, intrinsics, colors, backgrounds, watched)
    with _recording(), torch.enable_grad():
        leaves = [
            None if one is None else one.detach().requires_grad_(need) for one, need in zip(tensors, needs, strict=True)
        ]
        image, alphas, _ = ways.chosen(
            Gaussians(*leaves[:7]), leaves[7], leaves[8], options, packed=False, watched=leaves[9]
        )
        pairs = [(one, pull) for one, pull in ((image, given), (alphas, given_alphas)) if pull is not None]
        learning = [one for one, need in zip(leaves, needs, strict=True) if need]
        found = torch.autograd.grad(
            [one for one, _ in pairs], learning, [pull for _, pull in pairs], materialize_grads=True
        )
    # Copies: gradients of the kernels share one buffer.
    return [one.clone(memory_format=torch.contiguous_format) for one in found]


def _run_backward_fake(*given: Any) -> list[torch.Tensor]:
    needs, tensors = given[2], given[3 : 3 + TENSORS]
    return [one.new_empty(one.shape) for one, need in zip(tensors, needs, strict=True) if need]


def _recording() -> Any:
    """Enables autograd inside an operator, where torch disables it."""
    keys, excluded = torch._C.DispatchKey, torch._C._dispatch_tls_local_exclude_set()
    for key in (keys.AutogradFunctionality, keys.AutogradOther, keys.AutogradNestedTensor):
        excluded = excluded.remove(key)
    return torch._C._ForceDispatchKeyGuard(torch._C._dispatch_tls_local_include_set(), excluded)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*inputs[:TENSORS])
    ctx.rest = inputs[TENSORS:]
    ctx.mark_non_differentiable(output[2], output[3])


def _backward(ctx: Any, given: torch.Tensor | None, given_alphas: torch.Tensor | None, *_: Any) -> tuple[Any, ...]:
    # The kernels compute no gradient of the intrinsics (input 6).
    needs = [bool(need) and place != 6 for place, need in enumerate(ctx.needs_input_grad[:TENSORS])]
    none = (None,) * len(ctx.rest)
    if (given is None and given_alphas is None) or not any(needs):
        return (*(None,) * TENSORS, *none)
    found = iter(_render_backward(given, given_alphas, needs, *ctx.saved_tensors, *ctx.rest))
    return (*[next(found) if need else None for need in needs], *none)


_render_backward = operation(_run_backward, _run_backward_fake, name="render_backward")
operation(_run, _run_fake, name="render", keep=_keep, backward=_backward)
