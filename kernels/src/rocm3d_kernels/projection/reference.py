"""EWA projection of 3D Gaussians in plain PyTorch; in float64 the reference for the kernels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import torch

from rocm3d_kernels.image_formation import CLAMP, EXTENT, SMALLEST_ALPHA, SMALLEST_DETERMINANT

if TYPE_CHECKING:
    from rocm3d_kernels.projection import CameraSettings, Gaussians


class ReferenceProjection(NamedTuple):
    """Projected Gaussians [images, N, ...]; radii are zero for invisible ones."""

    radii: torch.Tensor
    means2d: torch.Tensor
    depths: torch.Tensor
    conics: torch.Tensor
    compensations: torch.Tensor | None


def rotation(quats: torch.Tensor) -> torch.Tensor:
    """Rotation matrices [..., 3, 3] of quaternions wxyz of any length."""
    w, x, y, z = (quats / quats.norm(dim=-1, keepdim=True).clamp_min(1e-12)).unbind(-1)
    rows = [
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    ]  # fmt: skip
    return torch.stack(rows, dim=-1).unflatten(-1, (3, 3))


def covariance(quats: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Covariances [..., 3, 3]."""
    axes = rotation(quats) * scales[..., None, :]
    return axes @ axes.transpose(-1, -2)


def project_all(gaussians: Gaussians, settings: CameraSettings) -> ReferenceProjection:
    """Projects arguments of the kernel, with or without batch dimensions; results are [batches, cameras, N, ...]."""
    cameras, count = gaussians.viewmats.shape[-3], gaussians.means.shape[-2]
    batches = math.prod(gaussians.means.shape[:-2])
    if gaussians.covars is not None:
        covars = gaussians.covars[..., [[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    elif gaussians.quats is not None and gaussians.scales is not None:
        covars = covariance(gaussians.quats, gaussians.scales)
    else:
        raise ValueError("projection: pass either covars, or quats and scales")
    opacities = gaussians.opacities
    return project(
        gaussians.means.reshape(batches, count, 3),
        covars.reshape(batches, count, 3, 3),
        None if opacities is None else opacities.reshape(batches, count),
        gaussians.viewmats.reshape(batches, cameras, 4, 4),
        gaussians.intrinsics.reshape(batches, cameras, 3, 3),
        settings.width,
        settings.height,
        eps2d=settings.eps2d,
        near=settings.near,
        far=settings.far,
        radius_clip=settings.radius_clip,
        compensate=settings.compensate,
        camera=settings.camera,
    )


def project(
    means: torch.Tensor,  # [B, N, 3]
    covars: torch.Tensor,  # [B, N, 3, 3]
    opacities: torch.Tensor | None,  # [B, N]
    viewmats: torch.Tensor,  # [B, C, 4, 4]
    intrinsics: torch.Tensor,  # [B, C, 3, 3]
    width: int,
    height: int,
    *,
    eps2d: float = 0.3,
    near: float = 0.01,
    far: float = 1e10,
    radius_clip: float = 0.0,
    compensate: bool = False,
    camera: str = "pinhole",
) -> ReferenceProjection:
    """Projects all Gaussians into all views; results are [B, C, N, ...]."""
    R, t = viewmats[..., :3, :3], viewmats[..., :3, 3]
    points = torch.einsum("bcij,bnj->bcni", R, means) + t[..., None, :]
    covars_c = torch.einsum("bcij,bnjk,bclk->bcnil", R, covars, R)
    depths = points[..., 2]
    usable = (depths > near) & (depths < far) & depths.isfinite()
    points = torch.where(usable[..., None], points, torch.ones_like(points))
    means2d, jacobian = _project_points(points, intrinsics, width, height, camera)
    cov2d = jacobian @ covars_c @ jacobian.transpose(-1, -2)
    det_without_eps = cov2d[..., 0, 0] * cov2d[..., 1, 1] - cov2d[..., 0, 1] ** 2
    a, b, c = cov2d[..., 0, 0] + eps2d, cov2d[..., 0, 1], cov2d[..., 1, 1] + eps2d
    determinant = (a * c - b * b).clamp_min(SMALLEST_DETERMINANT)
    conics = torch.stack([c / determinant, -b / determinant, a / determinant], dim=-1)
    compensations = (det_without_eps / determinant).clamp_min(0.0).sqrt() if compensate else None
    radii = _radii(a, c, opacities, compensations)
    det = a * c - b * b
    visible = usable & _is_inside(means2d, radii, width, height) & (radii > radius_clip).any(dim=-1)
    visible = visible & (det > 0) & det.isfinite()
    # Capped far beyond any image, so that it fits into an integer.
    radii = torch.where(visible[..., None], radii.clamp_max(1e9), torch.zeros_like(radii)).int()
    return ReferenceProjection(
        radii, means2d, torch.where(usable, depths, torch.zeros_like(depths)), conics, compensations
    )


def _project_points(
    points: torch.Tensor, intrinsics: torch.Tensor, width: int, height: int, camera: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Pixel positions [..., 2] and the Jacobian of the camera [..., 2, 3]."""
    x, y, z = points.unbind(-1)
    fx, fy = intrinsics[..., 0, 0, None], intrinsics[..., 1, 1, None]
    cx, cy = intrinsics[..., 0, 2, None], intrinsics[..., 1, 2, None]
    zero = torch.zeros_like(z)
    if camera == "ortho":
        entries = [fx + zero, zero, zero, zero, fy + zero, zero]
        position = [fx * x + cx, fy * y + cy]
    else:
        # Outside the image the Jacobian is evaluated near its edge; it would grow without bound.
        side_x, side_y = CLAMP * 0.5 * width / fx, CLAMP * 0.5 * height / fy
        near_x = z * torch.minimum(torch.maximum(x / z, -(cx / fx + side_x)), (width - cx) / fx + side_x)
        near_y = z * torch.minimum(torch.maximum(y / z, -(cy / fy + side_y)), (height - cy) / fy + side_y)
        entries = [fx / z, zero, -fx * near_x / z**2, zero, fy / z, -fy * near_y / z**2]
        position = [fx * x / z + cx, fy * y / z + cy]
    return torch.stack(position, dim=-1), torch.stack(entries, dim=-1).unflatten(-1, (2, 3))


def _radii(
    a: torch.Tensor, c: torch.Tensor, opacities: torch.Tensor | None, compensations: torch.Tensor | None
) -> torch.Tensor:
    """Half sides [..., 2] of the box outside which alpha is below the smallest alpha."""
    extent = torch.full_like(a, EXTENT)
    if opacities is not None:
        peak = opacities[..., None, :].expand_as(a)
        peak = peak if compensations is None else peak * compensations
        tight = (2.0 * (peak / SMALLEST_ALPHA).clamp_min(1.0).log()).sqrt()
        extent = torch.where(peak < SMALLEST_ALPHA, torch.zeros_like(extent), torch.minimum(extent, tight))
    return torch.stack([(extent * a.sqrt()).ceil(), (extent * c.sqrt()).ceil()], dim=-1).detach()


def _is_inside(means2d: torch.Tensor, radii: torch.Tensor, width: int, height: int) -> torch.Tensor:
    size = torch.tensor([width, height], dtype=means2d.dtype, device=means2d.device)
    return ((means2d + radii > 0) & (means2d - radii < size)).all(dim=-1)
