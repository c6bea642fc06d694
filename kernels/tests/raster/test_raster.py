from __future__ import annotations

import pytest
from tests.device import torch

from rocm3d_kernels.image_formation import LARGEST_ALPHA
from rocm3d_kernels.projection import CameraSettings, Gaussians, Projected, project
from rocm3d_kernels.raster import RasterInputs, draw, reference
from rocm3d_kernels.tiles import intersect

pytestmark = [
    pytest.mark.usefixtures("poisoned"),
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
]

SIZE = (19, 11)


@pytest.fixture(scope="module")
def projected_and_lists():
    """Projected Gaussians, some opaque, and their tile lists."""
    numbers = torch.Generator().manual_seed(0)
    count = 8
    opacities = torch.rand(count, generator=numbers)
    opacities[:3] = 0.9999
    gaussians = Gaussians(
        torch.randn(count, 3, generator=numbers) * 0.4, None, torch.randn(count, 4, generator=numbers),
        torch.rand(count, 3, generator=numbers) * 0.5, opacities, torch.eye(4)[None] + _camera_shift(3.0),
        torch.tensor([[[18.0, 0, 9], [0, 18, 5], [0, 0, 1]]]),
    )  # fmt: skip
    projected = project(gaussians, CameraSettings(*SIZE), count_tiles=True)[0]
    return projected, intersect(projected, *SIZE)


def _camera_shift(distance):
    move = torch.zeros(1, 4, 4)
    move[0, 2, 3] = distance
    return move


def reference_image(projected, colors, backgrounds, cap=LARGEST_ALPHA):
    records = projected.records.double()
    means2d, conics, opacities = (
        one.clone().requires_grad_() for one in (records[..., 0:2], records[..., 2:5], records[..., 5])
    )
    colors = colors.detach().double().requires_grad_()
    image, alphas = reference.rasterize(
        means2d, conics, colors, opacities, records[..., 6], projected.radii, SIZE,
        None if backgrounds is None else backgrounds.double(), cap,
    )  # fmt: skip
    return image, alphas, (means2d, conics, opacities, colors)


@pytest.mark.parametrize("cap", [LARGEST_ALPHA, 0.5])
@pytest.mark.parametrize("channels", [1, 3, 6])
def test_the_kernel_agrees_with_float64(channels, cap, projected_and_lists, tolerance):
    projected, lists = projected_and_lists
    numbers = torch.Generator().manual_seed(channels)
    colors = torch.rand(1, 8, channels, generator=numbers).requires_grad_()
    back = torch.rand(1, channels, generator=numbers)
    parts = Projected(
        *[one.clone().requires_grad_() for one in (projected.records[..., :2], projected.records[..., 2:6], colors)]
    )
    image, alphas = draw(parts, colors, back, RasterInputs(projected.records[0], lists, *SIZE, cap=cap))
    expected, expected_alphas, leaves = reference_image(projected, colors, back, cap)

    torch.testing.assert_close(image.double(), expected, **tolerance["float32-splat-forward"])
    torch.testing.assert_close(alphas.double(), expected_alphas, **tolerance["float32-splat-forward"])
    weights = torch.randn(image.shape, generator=numbers)
    grads = torch.autograd.grad((image * weights).sum(), (parts.means2d, parts.shapes, colors))
    true = torch.autograd.grad((expected * weights).sum(), leaves)
    true = true[0], torch.cat([true[1], true[2][..., None]], dim=-1), true[3]
    for one, other in zip(grads, true, strict=True):
        scale = other.abs().max().clamp_min(1.0)
        torch.testing.assert_close(one.double() / scale, other / scale, **tolerance["float32-splat-gradient"])


def test_masked_tiles_are_the_background(projected_and_lists):
    projected, lists = projected_and_lists
    masks = torch.zeros(lists.tiles_y * lists.tiles_x, dtype=torch.bool)
    masks[0] = True
    colors, back = torch.rand(8, 3), torch.tensor([[0.25, 0.5, 0.75]])
    drawing = RasterInputs(projected.records[0], lists, *SIZE)
    whole, _ = draw(None, colors, back, drawing)
    image, alphas = draw(None, colors, back, drawing._replace(masks=masks))
    inside = torch.zeros(SIZE[1], SIZE[0], dtype=torch.bool)
    inside[: lists.side, : lists.side] = True

    assert torch.equal(image[0][inside], whole[0][inside])
    assert torch.equal(image[0][~inside], back.expand_as(image[0][~inside]))
    assert not alphas[0][~inside].any()


def test_shared_rows_give_the_same_image(projected_and_lists):
    projected, lists = projected_and_lists
    colors = torch.rand(8, 3, requires_grad=True)
    drawing = RasterInputs(projected.records[0], lists, *SIZE)
    first, second = (draw(None, colors, None, drawing._replace(by_image=kind))[0] for kind in (True, False))

    assert torch.equal(first, second)
    assert torch.equal(torch.autograd.grad(first.sum(), colors)[0], torch.autograd.grad(second.sum(), colors)[0])


def test_a_pixel_ends_when_transmittance_is_used_up():
    """Three Gaussians of alpha 0.98 would leave T = 8e-6, below the limit: the third is not drawn."""
    means = torch.full((1, 3, 2), 0.5, dtype=torch.float64)
    conics = torch.tensor([1.0, 0, 1], dtype=torch.float64).expand(1, 3, 3)
    colors = torch.eye(3, dtype=torch.float64)[None]
    depths = torch.tensor([[3.0, 1, 2]], dtype=torch.float64)
    image, alphas = reference.rasterize(
        means, conics, colors, torch.full((1, 3), 0.98, dtype=torch.float64), depths, torch.full((1, 3, 2), 4), (1, 1)
    )

    assert image.flatten().tolist() == pytest.approx([0.0, 0.98, 0.98 * 0.02])
    assert alphas.item() == pytest.approx(1 - 0.02**2)
