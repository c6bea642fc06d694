from __future__ import annotations

import pytest
from tests.device import DEVICE, by_reference, torch
from torch._subclasses.fake_tensor import FakeTensorMode

import rocm3d_kernels
from rocm3d_kernels import boxes
from rocm3d_kernels.projection import CameraSettings, Gaussians
from rocm3d_kernels.projection.reference import project_all
from rocm3d_kernels.touched import ImageGaussians, RenderedTiles, touched_pixels
from rocm3d_kernels.touched.checks import checks

pytestmark = [
    pytest.mark.usefixtures("poisoned"),
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
]

WIDTH, HEIGHT = 19, 11


@pytest.fixture(scope="module")
def image_gaussians():
    """Projected Gaussians of two cameras, in float64."""
    numbers = torch.Generator().manual_seed(4)
    views = torch.eye(4).repeat(2, 1, 1)
    views[:, 2, 3] = 3.0
    views[1, 0, 3] = 0.4
    lens = torch.tensor([[18.0, 0, 9], [0, 18, 5], [0, 0, 1]]).repeat(2, 1, 1)
    tensors = (
        torch.randn(9, 3, generator=numbers) * 0.4, None, torch.randn(9, 4, generator=numbers),
        torch.rand(9, 3, generator=numbers) * 0.3, torch.rand(9, generator=numbers), views, lens,
    )  # fmt: skip
    gaussians = Gaussians(*(None if one is None else one.double() for one in tensors))
    projected = project_all(gaussians, CameraSettings(WIDTH, HEIGHT))
    return ImageGaussians(
        projected.means2d[0],
        projected.conics[0],
        gaussians.opacities.expand(2, 9),
        projected.depths[0],
        projected.radii[0],
    )


def in_float32(gaussians):
    return ImageGaussians(*(one.float() for one in gaussians[:4]), gaussians.radii)


@pytest.mark.parametrize(
    ("change", "text"),
    [({"conics": torch.zeros(2, 9, 2)}, "conics .* do not match"), ({"opacities": torch.zeros(9)}, "do not match")],
)
def test_wrong_shapes_are_refused(image_gaussians, change, text):
    with pytest.raises(ValueError, match=text):
        touched_pixels(in_float32(image_gaussians)._replace(**change), WIDTH, HEIGHT)


def test_an_empty_image_and_different_devices_are_refused(image_gaussians):
    with pytest.raises(ValueError, match="the image is empty: 0 x 11"):
        touched_pixels(in_float32(image_gaussians), 0, HEIGHT)
    with pytest.raises(ValueError, match=r"depths is .* on meta"):
        touched_pixels(in_float32(image_gaussians)._replace(depths=torch.zeros(2, 9, device="meta")), WIDTH, HEIGHT)


@pytest.mark.parametrize("side", [0, 8], ids=["own-lists", "lists-of-a-rendering"])
def test_the_kernel_agrees_with_float64(side, image_gaussians):
    tiles = None
    if side:
        owners, size = torch.arange(2).repeat_interleave(9), (-(-WIDTH // side), -(-HEIGHT // side))
        flat = (
            image_gaussians.means2d.view(-1, 2),
            image_gaussians.radii.view(-1, 2),
            image_gaussians.depths.view(-1),
            owners,
        )
        _, keys, rows = boxes.tile_pairs(*flat, side, size)
        offsets = torch.nn.functional.pad(boxes.tile_offsets(keys, 2, size).flatten(), (0, 1), value=len(rows))
        tiles = RenderedTiles(rows, offsets, side, size[0])
    actual = touched_pixels(in_float32(image_gaussians), WIDTH, HEIGHT, tiles=tiles)
    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    with by_reference():
        expected = touched_pixels(image_gaussians, WIDTH, HEIGHT)
    assert rocm3d_kernels.last_dispatch().implementation == "reference"

    # A pixel at the limit may count or not.
    assert (actual - expected).abs().max() <= 1
    assert expected.max() > 10


@pytest.mark.usefixtures("reference_on_cpu")
def test_gaussians_behind_half_transmittance_are_not_counted():
    """Three Gaussians at one position: T is 0.7 after the first, 0.49 after the second."""
    gaussians = ImageGaussians(
        torch.full((1, 3, 2), 0.5), torch.tensor([1.0, 0, 1]).expand(1, 3, 3), torch.full((1, 3), 0.3),
        torch.tensor([[3.0, 1, 2]]), torch.full((1, 3, 2), 2, dtype=torch.int32),
    )  # fmt: skip

    assert touched_pixels(gaussians, 1, 1).tolist() == [[0, 1, 0]]
    assert touched_pixels(gaussians._replace(radii=gaussians.radii * 0), 1, 1).tolist() == [[0, 0, 0]]


def test_no_gaussians_are_no_counts():
    none = ImageGaussians(
        *(torch.zeros(1, 0, *more) for more in ((2,), (3,), (), ())), torch.zeros(1, 0, 2, dtype=torch.int32)
    )

    assert touched_pixels(none, 4, 4).shape == (1, 0)


def test_fake_tensors_go_through_the_operator(image_gaussians):
    gaussians = in_float32(image_gaussians)
    with FakeTensorMode() as mode:
        actual = touched_pixels(ImageGaussians(*(mode.from_tensor(one) for one in gaussians)), WIDTH, HEIGHT)

    assert (actual.shape, actual.dtype) == ((2, 9), torch.int32)


@pytest.mark.usefixtures("reference_on_cpu")
def test_checks_match_float64(tolerance):
    ((name, call, expected, limit),) = checks(DEVICE)

    assert name == "touched"
    torch.testing.assert_close(call().cpu(), expected, **tolerance[limit])
