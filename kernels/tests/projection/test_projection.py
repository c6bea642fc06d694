from __future__ import annotations

import pytest
from tests.device import torch

from rocm3d_kernels.projection import CameraSettings, Gaussians, Projected, project, reference, split_records

pytestmark = [
    pytest.mark.usefixtures("poisoned"),
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
]

COUNT, CAMERAS = 11, 2


def gaussians(*, covars=False, opacities=True):
    """Gaussians in front of, beside and behind two cameras of different directions."""
    numbers = torch.Generator().manual_seed(0)
    turn = torch.linalg.qr(torch.randn(2, 3, 3, generator=numbers))[0] * 0.1 + torch.eye(3) * 0.9
    views = torch.eye(4).repeat(CAMERAS, 1, 1)
    views[:, :3, :3], views[:, 2, 3] = turn, 2.0
    root = torch.randn(COUNT, 3, 3, generator=numbers) * 0.2
    triangle = (root @ root.mT)[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    return Gaussians(
        torch.randn(COUNT, 3, generator=numbers),
        triangle if covars else None,
        None if covars else torch.randn(COUNT, 4, generator=numbers),
        None if covars else torch.rand(COUNT, 3, generator=numbers) * 0.3,
        torch.rand(COUNT, generator=numbers) if opacities else None,
        views,
        torch.tensor([[20.0, 0, 12], [0, 22, 8], [0, 0, 1]]).repeat(CAMERAS, 1, 1),
    )


def reference_parts(gaussians, settings):
    """Radii and the three parts of a record, from the reference."""
    if gaussians.covars is None:
        covars = reference.covariance(gaussians.quats, gaussians.scales)
    else:
        covars = gaussians.covars[..., [[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    peaks = gaussians.opacities
    projected = reference.project(
        gaussians.means[None], covars[None], None if peaks is None else peaks[None], gaussians.viewmats[None],
        gaussians.intrinsics[None], settings.width, settings.height, eps2d=settings.eps2d, near=settings.near,
        far=settings.far, radius_clip=settings.radius_clip, compensate=settings.compensate, camera=settings.camera,
    )  # fmt: skip
    ratio = torch.ones_like(projected.depths) if projected.compensations is None else projected.compensations
    opacities = torch.ones_like(ratio) if peaks is None else peaks * ratio
    shapes = torch.cat([projected.conics, opacities[..., None]], dim=-1)
    return projected.radii[0], Projected(
        projected.means2d[0], shapes[0], torch.stack([projected.depths, ratio], dim=-1)[0]
    )


@pytest.mark.parametrize(
    ("kinds", "settings"),
    [
        ({}, {}),
        ({"covars": True}, {"radius_clip": 2.0}),
        ({"opacities": False}, {"far": 2.5}),
        ({}, {"compensate": True}),
        ({"covars": True}, {"compensate": True, "eps2d": 0.1}),
        ({}, {"camera": "ortho"}),
    ],
    ids=["quats", "covars", "no-opacities", "compensate", "covars-compensate", "ortho"],
)
def test_records_and_gradients_agree_with_float64(kinds, settings, tolerance):
    settings = CameraSettings(24, 16, **settings)
    mine = Gaussians(*[None if one is None else one.requires_grad_() for one in gaussians(**kinds)])
    mine = mine._replace(intrinsics=mine.intrinsics.detach())
    exact = Gaussians(*[None if one is None else one.detach().double().requires_grad_() for one in mine])
    outputs, parts = project(mine, settings, count_tiles=True)
    radii, expected = reference_parts(exact, settings)

    assert torch.equal(outputs.radii, radii)
    visible = (radii > 0).all(dim=-1)
    assert 0 < visible.sum() < visible.numel()
    for one, true in zip(parts, expected, strict=True):
        torch.testing.assert_close(one[visible].double(), true[visible], **tolerance["float32-splat-gradient"])
    numbers = torch.Generator().manual_seed(1)
    weights = [torch.randn(one.shape, generator=numbers) * visible[..., None] for one in parts]
    names = [name for name in Gaussians._fields if name != "intrinsics" and getattr(mine, name) is not None]
    grads = torch.autograd.grad(
        sum((a * b).sum() for a, b in zip(parts, weights, strict=True)), [getattr(mine, name) for name in names]
    )
    expected_grads = torch.autograd.grad(
        sum((a * b).sum() for a, b in zip(expected, weights, strict=True)),
        [getattr(exact, name) for name in names],
        materialize_grads=True,
    )
    for name, one, true in zip(names, grads, expected_grads, strict=True):
        scale = true.abs().max().clamp_min(1.0)
        torch.testing.assert_close(
            one / scale, (true / scale).float(), **tolerance["float32-splat-gradient"],
            msg=lambda text, name=name: f"{name}: {text}",
        )  # fmt: skip


def test_no_parts_without_gradients():
    outputs, parts = project(gaussians(), CameraSettings(24, 16))

    assert parts is None
    assert outputs.counts is None
    assert split_records(outputs.records).shapes.shape == (CAMERAS, COUNT, 4)


def test_rotation_matrix_of_a_quaternion():
    quarter = reference.rotation(torch.tensor([[0.5**0.5, 0.0, 0.0, 0.5**0.5]], dtype=torch.float64)) * 1.0
    expected = torch.tensor([[[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]], dtype=torch.float64)

    torch.testing.assert_close(quarter, expected)
    matrices = reference.rotation(torch.randn(5, 4, generator=torch.Generator().manual_seed(2)).double() * 3)
    torch.testing.assert_close(matrices @ matrices.mT, torch.eye(3, dtype=torch.float64).expand(5, 3, 3))


def test_reference_passes_gradcheck(tolerance):
    numbers = torch.Generator().manual_seed(3)
    means = (torch.randn(1, 2, 3, generator=numbers, dtype=torch.float64) * 0.2).requires_grad_()
    quats = torch.randn(1, 2, 4, generator=numbers, dtype=torch.float64, requires_grad=True)
    scales = torch.rand(1, 2, 3, generator=numbers, dtype=torch.float64, requires_grad=True)
    views = torch.eye(4, dtype=torch.float64)[None, None].clone()
    views[..., 2, 3] = 3.0
    focal = torch.tensor([[20.0, 0, 12], [0, 22, 8], [0, 0, 1]], dtype=torch.float64)[None, None]

    def call(means, quats, scales, views):
        projected = reference.project(
            means, reference.covariance(quats, scales), None, views, focal, 24, 16, compensate=True
        )
        return projected.means2d, projected.conics, projected.depths, projected.compensations

    inputs = (means, quats, scales, views.requires_grad_())
    assert torch.autograd.gradcheck(call, inputs, **tolerance["float64-gradcheck"])
