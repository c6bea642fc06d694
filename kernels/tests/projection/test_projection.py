from __future__ import annotations

import pytest
from tests.device import torch

from rocm3d_kernels.projection import Gaussians, Projected, Settings, cut, project, reference

pytestmark = [
    pytest.mark.usefixtures("poisoned"),
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
]

COUNT, CAMERAS = 11, 2


def given(*, covars=False, opacities=True):
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


def exactly(gaussians, settings):
    """Radii and the three parts of a record, from the reference."""
    if gaussians.covars is None:
        covars = reference.covariance(gaussians.quats, gaussians.scales)
    else:
        covars = gaussians.covars[..., [[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    some = gaussians.opacities
    found = reference.project(
        gaussians.means[None], covars[None], None if some is None else some[None], gaussians.viewmats[None],
        gaussians.intrinsics[None], settings.width, settings.height, eps2d=settings.eps2d, near=settings.near,
        far=settings.far, radius_clip=settings.radius_clip, compensate=settings.compensate, camera=settings.camera,
    )  # fmt: skip
    ratio = torch.ones_like(found.depths) if found.compensations is None else found.compensations
    opacities = torch.ones_like(ratio) if some is None else some * ratio
    shapes = torch.cat([found.conics, opacities[..., None]], dim=-1)
    return found.radii[0], Projected(found.means2d[0], shapes[0], torch.stack([found.depths, ratio], dim=-1)[0])


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
    settings = Settings(24, 16, **settings)
    mine = Gaussians(*[None if one is None else one.requires_grad_() for one in given(**kinds)])
    mine = mine._replace(intrinsics=mine.intrinsics.detach())
    exact = Gaussians(*[None if one is None else one.detach().double().requires_grad_() for one in mine])
    seen, parts = project(mine, settings, count_tiles=True)
    radii, wanted = exactly(exact, settings)

    assert torch.equal(seen.radii, radii)
    there = (radii > 0).all(dim=-1)
    assert 0 < there.sum() < there.numel()
    for one, true in zip(parts, wanted, strict=True):
        torch.testing.assert_close(one[there].double(), true[there], **tolerance["float32-splat-gradient"])
    numbers = torch.Generator().manual_seed(1)
    weights = [torch.randn(one.shape, generator=numbers) * there[..., None] for one in parts]
    learning = [name for name in Gaussians._fields if name != "intrinsics" and getattr(mine, name) is not None]
    found = torch.autograd.grad(
        sum((a * b).sum() for a, b in zip(parts, weights, strict=True)), [getattr(mine, name) for name in learning]
    )
    truth = torch.autograd.grad(
        sum((a * b).sum() for a, b in zip(wanted, weights, strict=True)),
        [getattr(exact, name) for name in learning],
        materialize_grads=True,
    )
    for name, one, true in zip(learning, found, truth, strict=True):
        scale = true.abs().max().clamp_min(1.0)
        torch.testing.assert_close(
            one / scale, (true / scale).float(), **tolerance["float32-splat-gradient"],
            msg=lambda text, name=name: f"{name}: {text}",
        )  # fmt: skip


def test_nothing_learns_without_gradients():
    seen, parts = project(given(), Settings(24, 16))

    assert parts is None
    assert seen.counts is None
    assert cut(seen.records).shapes.shape == (CAMERAS, COUNT, 4)


def test_a_quaternion_turns_as_its_matrix_says():
    quarter = reference.rotation(torch.tensor([[0.5**0.5, 0.0, 0.0, 0.5**0.5]], dtype=torch.float64)) * 1.0
    wanted = torch.tensor([[[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]], dtype=torch.float64)

    torch.testing.assert_close(quarter, wanted)
    matrices = reference.rotation(torch.randn(5, 4, generator=torch.Generator().manual_seed(2)).double() * 3)
    torch.testing.assert_close(matrices @ matrices.mT, torch.eye(3, dtype=torch.float64).expand(5, 3, 3))


def test_the_reference_is_differentiated_rightly(tolerance):
    numbers = torch.Generator().manual_seed(3)
    means = (torch.randn(1, 2, 3, generator=numbers, dtype=torch.float64) * 0.2).requires_grad_()
    quats = torch.randn(1, 2, 4, generator=numbers, dtype=torch.float64, requires_grad=True)
    scales = torch.rand(1, 2, 3, generator=numbers, dtype=torch.float64, requires_grad=True)
    views = torch.eye(4, dtype=torch.float64)[None, None].clone()
    views[..., 2, 3] = 3.0
    focal = torch.tensor([[20.0, 0, 12], [0, 22, 8], [0, 0, 1]], dtype=torch.float64)[None, None]

    def call(means, quats, scales, views):
        found = reference.project(
            means, reference.covariance(quats, scales), None, views, focal, 24, 16, compensate=True
        )
        return found.means2d, found.conics, found.depths, found.compensations

    inputs = (means, quats, scales, views.requires_grad_())
    assert torch.autograd.gradcheck(call, inputs, **tolerance["float64-gradcheck"])
