"""The rendering as one torch.library operator, for torch.compile, export and fake tensors.

Eager calls do not use it. An operator can save only its inputs and outputs for backward, and the size of the tile
lists is not known in advance. Therefore backward renders once more.
"""

from __future__ import annotations

from typing import Any, Optional

import torch

from rocm3d_kernels.gaussian import render_dispatch
from rocm3d_kernels.gaussian.options import RenderOptions
from rocm3d_kernels.projection import CameraSettings, Gaussians
from rocm3d_kernels.registration import operation

# Columns of the projected Gaussians: mean x and y, conic (3), opacity, depth.
PROJECTED_COLUMNS = 7
TENSOR_COUNT = 10


def rasterize_traced(
    gaussians: Gaussians,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    options: RenderOptions,
    *,
    packed: bool,
    watched: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor, dict[str, Any]]:
    """As `rasterize` of gaussian/render_dispatch.py; the meta dict has no tile lists and no gradients."""
    if packed:
        raise NotImplementedError("gaussian: packed is not supported under torch.compile: its size depends on the data")
    if options.absgrad:
        raise NotImplementedError("gaussian: absgrad is not supported under torch.compile: it is a tensor attribute")
    settings, *rest = options
    arguments = (*gaussians, colors, backgrounds, watched, *settings, *rest)
    image, alphas, radii, projected = torch.ops.rocm3d_kernels.render(*arguments)
    names = {
        "means2d": projected[..., 0:2],
        "conics": projected[..., 2:5],
        "opacities": projected[..., 5],
        "depths": projected[..., 6],
    }
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
    settings = CameraSettings(width, height, eps2d, near, far, radius_clip, compensate, camera)
    options = RenderOptions(settings, degree, with_colors, with_depths, absgrad, deterministic, inverse_depths, cap)
    gaussians = Gaussians(means, covars, quats, scales, opacities, viewmats, intrinsics)
    image, alphas, meta = render_dispatch.rasterize_eager(
        gaussians, colors, backgrounds, options, packed=False, watched=watched
    )
    parts = (meta["means2d"], meta["conics"], meta["opacities"][..., None], meta["depths"][..., None])
    # Copies, as the fake kernel declares: tensors of a small scene share one buffer.
    return image, alphas, meta["radii"].clone(), torch.cat([one.detach() for one in parts], dim=-1)


def _run_fake(*arguments: Any) -> tuple[torch.Tensor, ...]:
    means, colors, (width, height) = arguments[0], arguments[7], arguments[TENSOR_COUNT : TENSOR_COUNT + 2]
    degree, with_colors, with_depths = arguments[TENSOR_COUNT + 8 : TENSOR_COUNT + 11]
    images = arguments[5].numel() // 16
    channels = (3 if degree is not None else colors.shape[-1]) if with_colors else 0
    shape = (images, height, width)
    return (
        means.new_empty((*shape, channels + int(with_depths))),
        means.new_empty(shape),
        means.new_empty((images, means.shape[-2], 2), dtype=torch.int32),
        means.new_empty((images, means.shape[-2], PROJECTED_COLUMNS)),
    )


def _run_backward(
    v_image: Optional[torch.Tensor],  # noqa: UP045
    v_alphas: Optional[torch.Tensor],  # noqa: UP045
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
    settings = CameraSettings(width, height, eps2d, near, far, radius_clip, compensate, camera)
    options = RenderOptions(settings, degree, with_colors, with_depths, absgrad, deterministic, inverse_depths, cap)
    tensors = (means, covars, quats, scales, opacities, viewmats, intrinsics, colors, backgrounds, watched)
    with _enable_autograd(), torch.enable_grad():
        leaves = [
            None if one is None else one.detach().requires_grad_(need) for one, need in zip(tensors, needs, strict=True)
        ]
        image, alphas, _ = render_dispatch.rasterize_eager(
            Gaussians(*leaves[:7]), leaves[7], leaves[8], options, packed=False, watched=leaves[9]
        )
        outputs = [(one, v_output) for one, v_output in ((image, v_image), (alphas, v_alphas)) if v_output is not None]
        inputs = [one for one, need in zip(leaves, needs, strict=True) if need]
        grads = torch.autograd.grad(
            [one for one, _ in outputs], inputs, [v_output for _, v_output in outputs], materialize_grads=True
        )
    # Copies: gradients of the kernels share one buffer.
    return [one.clone(memory_format=torch.contiguous_format) for one in grads]


def _run_backward_fake(*arguments: Any) -> list[torch.Tensor]:
    needs, tensors = arguments[2], arguments[3 : 3 + TENSOR_COUNT]
    return [one.new_empty(one.shape) for one, need in zip(tensors, needs, strict=True) if need]


def _enable_autograd() -> Any:
    """Enables autograd inside an operator, where torch disables it."""
    keys, excluded = torch._C.DispatchKey, torch._C._dispatch_tls_local_exclude_set()
    for key in (keys.AutogradFunctionality, keys.AutogradOther, keys.AutogradNestedTensor):
        excluded = excluded.remove(key)
    return torch._C._ForceDispatchKeyGuard(torch._C._dispatch_tls_local_include_set(), excluded)


def _save_for_backward(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*inputs[:TENSOR_COUNT])
    ctx.rest = inputs[TENSOR_COUNT:]
    ctx.mark_non_differentiable(output[2], output[3])


def _backward(ctx: Any, v_image: torch.Tensor | None, v_alphas: torch.Tensor | None, *_: Any) -> tuple[Any, ...]:
    # The kernels compute no gradient of the intrinsics (input 6).
    needs = [bool(need) and index != 6 for index, need in enumerate(ctx.needs_input_grad[:TENSOR_COUNT])]
    none = (None,) * len(ctx.rest)
    if (v_image is None and v_alphas is None) or not any(needs):
        return (*(None,) * TENSOR_COUNT, *none)
    grads = iter(_render_backward(v_image, v_alphas, needs, *ctx.saved_tensors, *ctx.rest))
    return (*[next(grads) if need else None for need in needs], *none)


_render_backward = operation(_run_backward, _run_backward_fake, name="render_backward")
operation(_run, _run_fake, name="render", keep=_save_for_backward, backward=_backward)
