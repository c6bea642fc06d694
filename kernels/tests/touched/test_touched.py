from __future__ import annotations

import pytest
from tests.device import DEVICE, by_reference, torch
from torch._subclasses.fake_tensor import FakeTensorMode

import rocm3d_kernels
from rocm3d_kernels import boxes
from rocm3d_kernels.projection import Gaussians, Settings
from rocm3d_kernels.projection.reference import project_all
from rocm3d_kernels.touched import Flat, Tiles, touched_pixels
from rocm3d_kernels.touched.checks import checks

pytestmark = [
    pytest.mark.usefixtures("poisoned"),
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
]

WIDTH, HEIGHT = 19, 11


@pytest.fixture(scope="module")
def seen():
    """Projected Gaussians of two cameras, in float64."""
    numbers = torch.Generator().manual_seed(4)
    views = torch.eye(4).repeat(2, 1, 1)
    views[:, 2, 3] = 3.0
    views[1, 0, 3] = 0.4
    lens = torch.tensor([[18.0, 0, 9], [0, 18, 5], [0, 0, 1]]).repeat(2, 1, 1)
    given = (
        torch.randn(9, 3, generator=numbers) * 0.4, None, torch.randn(9, 4, generator=numbers),
        torch.rand(9, 3, generator=numbers) * 0.3, torch.rand(9, generator=numbers), views, lens,
    )  # fmt: skip
    gaussians = Gaussians(*(None if one is None else one.double() for one in given))
    found = project_all(gaussians, Settings(WIDTH, HEIGHT))
    return Flat(found.means2d[0], found.conics[0], gaussians.opacities.expand(2, 9), found.depths[0], found.radii[0])


def single(gaussians):
    return Flat(*(one.float() for one in gaussians[:4]), gaussians.radii)


@pytest.mark.parametrize(
    ("change", "text"),
    [({"conics": torch.zeros(2, 9, 2)}, "conics .* do not match"), ({"opacities": torch.zeros(9)}, "do not match")],
)
def test_wrong_shapes_are_refused(seen, change, text):
    with pytest.raises(ValueError, match=text):
        touched_pixels(single(seen)._replace(**change), WIDTH, HEIGHT)


def test_an_empty_image_and_different_devices_are_refused(seen):
    with pytest.raises(ValueError, match="the image is empty: 0 x 11"):
        touched_pixels(single(seen), 0, HEIGHT)
    with pytest.raises(ValueError, match="different devices"):
        touched_pixels(single(seen)._replace(depths=torch.zeros(2, 9, device="meta")), WIDTH, HEIGHT)


@pytest.mark.parametrize("side", [0, 8], ids=["own-lists", "lists-of-a-rendering"])
def test_the_kernel_agrees_with_float64(side, seen):
    tiles = None
    if side:
        owners, size = torch.arange(2).repeat_interleave(9), (-(-WIDTH // side), -(-HEIGHT // side))
        flat = (seen.means2d.view(-1, 2), seen.radii.view(-1, 2), seen.depths.view(-1), owners)
        _, keys, rows = boxes.pairs(*flat, side, size)
        offsets = torch.nn.functional.pad(boxes.begins(keys, 2, size).flatten(), (0, 1), value=len(rows))
        tiles = Tiles(rows, offsets, side, size[0])
    found = touched_pixels(single(seen), WIDTH, HEIGHT, tiles=tiles)
    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    with by_reference():
        wanted = touched_pixels(seen, WIDTH, HEIGHT)
    assert rocm3d_kernels.last_dispatch().implementation == "reference"

    # A pixel at the limit may count or not.
    assert (found - wanted).abs().max() <= 1
    assert wanted.max() > 10


@pytest.mark.usefixtures("reference_on_cpu")
def test_what_stands_behind_half_of_the_light_is_not_counted():
    """Three Gaussians at one position: T is 0.7 after the first, 0.49 after the second."""
    gaussians = Flat(
        torch.full((1, 3, 2), 0.5), torch.tensor([1.0, 0, 1]).expand(1, 3, 3), torch.full((1, 3), 0.3),
        torch.tensor([[3.0, 1, 2]]), torch.full((1, 3, 2), 2, dtype=torch.int32),
    )  # fmt: skip

    assert touched_pixels(gaussians, 1, 1).tolist() == [[0, 1, 0]]
    assert touched_pixels(gaussians._replace(radii=gaussians.radii * 0), 1, 1).tolist() == [[0, 0, 0]]


def test_no_gaussians_are_no_counts():
    none = Flat(*(torch.zeros(1, 0, *more) for more in ((2,), (3,), (), ())), torch.zeros(1, 0, 2, dtype=torch.int32))

    assert touched_pixels(none, 4, 4).shape == (1, 0)


def test_fake_tensors_go_through_the_operator(seen):
    given = single(seen)
    with FakeTensorMode() as mode:
        found = touched_pixels(Flat(*(mode.from_tensor(one) for one in given)), WIDTH, HEIGHT)

    assert (found.shape, found.dtype) == ((2, 9), torch.int32)


@pytest.mark.usefixtures("reference_on_cpu")
def test_what_is_offered_agrees(tolerance):
    ((name, call, wanted, limit),) = checks(DEVICE)

    assert name == "touched"
    torch.testing.assert_close(call().cpu(), wanted, **tolerance[limit])
