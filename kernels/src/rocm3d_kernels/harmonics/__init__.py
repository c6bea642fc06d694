"""View-dependent colours from spherical harmonics up to degree 4."""

from __future__ import annotations

from typing import Any

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.arguments import check_integer, check_tensors  # noqa: E402
from rocm3d_kernels.dispatch import choose  # noqa: E402
from rocm3d_kernels.harmonics import reference  # noqa: E402
from rocm3d_kernels.registration import once_differentiable  # noqa: E402

__all__ = ["spherical_harmonics"]


def spherical_harmonics(
    degree: int, directions: torch.Tensor, coefficients: torch.Tensor, masks: torch.Tensor | None = None
) -> torch.Tensor:
    """Sums [..., 3] of coefficients [..., K, 3] up to `degree` at directions [..., 3] of any length.

    The result is zero where `masks` [...] is false.
    """
    _check(degree, directions, coefficients, masks)
    if choose("harmonics", directions, coefficients) == "reference":
        values = reference.spherical_harmonics(degree, directions, coefficients)
        return values if masks is None else torch.where(masks[..., None], values, torch.zeros_like(values))
    result: torch.Tensor = _HarmonicsFunction.apply(directions.contiguous(), coefficients.contiguous(), masks, degree)
    return result


def _check(degree: int, directions: torch.Tensor, coefficients: torch.Tensor, masks: torch.Tensor | None) -> None:
    degree = check_integer("harmonics", "degree", degree, 0, reference.MAX_DEGREE)
    check_tensors("harmonics", {"directions": directions, "coefficients": coefficients})
    if directions.shape[-1:] != (3,):
        raise ValueError(f"harmonics: directions must be [..., 3], not {tuple(directions.shape)}")
    bases = coefficients.shape[-2] if coefficients.dim() > 1 else 0
    if coefficients.shape != (*directions.shape[:-1], bases, 3) or bases < (degree + 1) ** 2:
        raise ValueError(
            f"harmonics: coefficients must be [..., K, 3] with K of at least {(degree + 1) ** 2} and leading shape "
            f"{tuple(directions.shape[:-1])} like directions, not {tuple(coefficients.shape)}"
        )
    if coefficients.device != directions.device:
        raise ValueError(
            f"harmonics: tensors are on different devices: directions on {directions.device}, coefficients on "
            f"{coefficients.device}"
        )
    if coefficients.dtype != directions.dtype:
        raise ValueError(f"harmonics: coefficients are {coefficients.dtype}, but directions are {directions.dtype}")
    if masks is not None:
        check_tensors("harmonics", {"masks": masks})
        if masks.dtype != torch.bool or masks.device != directions.device:
            raise ValueError(
                f"harmonics: masks must be bool on {directions.device}, not {masks.dtype} on {masks.device}"
            )
    if masks is not None and masks.shape != directions.shape[:-1]:
        raise ValueError(f"harmonics: masks {tuple(masks.shape)} do not match directions {tuple(directions.shape)}")


class _HarmonicsFunction(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, directions: torch.Tensor, coefficients: torch.Tensor, masks: torch.Tensor | None, degree: int
    ) -> torch.Tensor:
        from rocm3d_kernels.harmonics import launch

        view = launch.HarmonicsOptions(degree, 1, as_colors=False, per_image=False)
        origin = torch.zeros((1, 3), device=directions.device)
        radii = None if masks is None else masks.reshape(-1, 1).expand(-1, 2).int().contiguous()
        points, flat = directions.view(-1, 3), coefficients.view(-1, *coefficients.shape[-2:])
        ctx.save_for_backward(directions, coefficients, radii, origin)
        ctx.view = view
        return launch.forward(points, origin, flat, radii, view).view(directions.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, v_values: torch.Tensor) -> tuple[Any, ...]:
        from rocm3d_kernels.harmonics import launch

        directions, coefficients, radii, origin = ctx.saved_tensors
        points, flat = directions.view(-1, 3), coefficients.view(-1, *coefficients.shape[-2:])
        v_points, _, v_coefficients = launch.backward(
            points, origin, flat, radii, ctx.view, points, v_values.reshape(-1, 3).contiguous(),
            needs_points=ctx.needs_input_grad[0], needs_origins=False,
        )  # fmt: skip
        v_directions = None if v_points is None else v_points.view(directions.shape)
        return v_directions, v_coefficients.view(coefficients.shape), None, None
