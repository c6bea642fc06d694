from __future__ import annotations

import dataclasses
import functools
import itertools

import pytest
from tests.device import on_gpu, torch
from tests.properties import Phase, given, settings, some

from rocm3d_kernels import backoff, tiles, tuning
from rocm3d_kernels.image_formation import SMALLEST_ALPHA
from rocm3d_kernels.projection import CameraSettings, Gaussians
from rocm3d_kernels.projection.launch import forward
from rocm3d_kernels.tiles import launch, reference

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")

# An outline may pass between two rows of pixel centres and reach neither. The standard deviation here is at least 0.54
# pixels: within half a pixel the exponent changes by up to 3.3 * 0.5 / 0.54 at the outline, alpha by a factor of 21.
BETWEEN = 1 / 21
SIZE = (27, 18)


def scene(count=14, images=2, size=SIZE, seed=0, stretch=1.0):
    """Gaussians, some thin, some large, some outside."""
    numbers = torch.Generator().manual_seed(seed)
    means = torch.randn(count, 3, generator=numbers) * torch.tensor([1.0, 0.7, 0.5])
    scales = torch.exp(torch.randn(count, 3, generator=numbers) - 2.0) * stretch
    views = torch.eye(4).repeat(images, 1, 1)
    views[:, 2, 3] = 3.0 + torch.arange(images)
    focal = torch.tensor([[30.0, 0, size[0] / 2], [0, 28, size[1] / 2], [0, 0, 1]]).repeat(images, 1, 1)
    return Gaussians(
        means,
        None,
        torch.randn(count, 4, generator=numbers),
        scales,
        torch.rand(count, generator=numbers),
        views,
        focal,
    )


def projected_copy(size=SIZE, **named):
    """A copy of the projected scene with counted tiles: `intersect` consumes it."""
    outputs = projected(size, **named)
    names = [field.name for field in dataclasses.fields(outputs)]
    return dataclasses.replace(outputs, **{name: getattr(outputs, name).clone() for name in names})


@functools.cache
def projected(size, **named):
    return forward(scene(size=size, **named), CameraSettings(*size), count_tiles=True)


def lists(tile_lists):
    return [tile_lists.gaussians[a:b].tolist() for a, b in itertools.pairwise(tile_lists.offsets.tolist())]


def assert_lists_match_reference(projected, size):
    records, radii = projected.records.clone(), projected.radii
    tile_lists = tiles.intersect(projected, *size)
    actual = lists(tile_lists)
    needed = reference.intersect(records, radii, size, tile_lists.side)
    # The kernel treats tiles at the border as whole tiles.
    whole = tuple(-(-one // tile_lists.side) * tile_lists.side for one in size)
    touched = reference.intersect(records, radii, whole, tile_lists.side)
    allowed = reference.intersect(records, radii, whole, tile_lists.side, SMALLEST_ALPHA * BETWEEN)
    depths = records[..., 6].flatten()

    assert len(actual) == len(needed)
    for have, must, may in zip(actual, needed, allowed, strict=True):
        assert len(set(have)) == len(have)
        assert set(must) <= set(have) <= set(may)
        assert depths[have].tolist() == sorted(depths[have].tolist())
    assert sum(map(len, actual)) <= 1.1 * sum(map(len, touched)) + 2
    return tile_lists


@pytest.fixture
def limits(monkeypatch):
    """Sets limits of the lists and of the kernel, and restores them. Bins are tried if `most_bin` is above 0."""

    def change(few, worth, large, early=10**6, most_bin=0, **more):
        monkeypatch.setattr(tiles, "_BACKOFFS", {})
        monkeypatch.setattr(backoff.ExponentialBackoff, "should_try", lambda _: most_bin > 0)
        list_parameters = {"FEW": few, "EARLY": early, "MOST_BIN": most_bin, "WORTH": worth, **more}
        tuning.override_parameters("tiles", {"emit_tiles": {"LARGE": large}, "lists": list_parameters})

    yield change
    tuning.override_parameters("tiles", {})


def test_more_than_fits_into_32_bits_is_refused(monkeypatch):
    monkeypatch.setattr(tiles, "MAX_INT32", 10)

    with pytest.raises(ValueError, match="Render fewer images at once"):
        tiles.intersect(projected_copy(), *SIZE)


@pytest.mark.parametrize(("large", "count"), [(1, 7), (32, 14)], ids=["each-by-itself", "side-by-side"])
@pytest.mark.parametrize(
    ("few", "early", "most_bin"),
    [(0, 10**6, 0), (10**6, 10**6, 0), (10**6, 0, 0), (0, 0, 2048)],
    ids=["two-sorts", "one-sort", "one-before", "bins"],
)
@pytest.mark.parametrize(("worth", "side"), [(0, 16), (99, 8)], ids=["coarse", "fine"])
def test_every_pair_occurs_once_sorted_by_depth(few, early, most_bin, worth, large, count, side, limits):
    limits(few, worth, large, early, most_bin)
    for _ in range(2 if on_gpu() else 1):  # where the second launch passes addresses
        tile_lists = assert_lists_match_reference(projected_copy(count=count), SIZE)

        assert tile_lists.side == side
        assert (tile_lists.longest is not None) == (most_bin > 0)


@pytest.mark.parametrize(("count", "images"), [(1, 2), (2, 2), (14, 2), (40, 1)])
def test_bins_make_the_same_lists(limits, count, images):
    """Also for tiles with more pairs than the smaller sorts hold."""
    limits(0, 99, 4)
    sorted_by_torch = tiles.intersect(projected_copy(count=count, images=images), *SIZE)
    limits(0, 99, 4, most_bin=2048)
    binned = tiles.intersect(projected_copy(count=count, images=images), *SIZE)
    assert count < 40 or binned.longest > launch.MIN_BIN

    assert torch.equal(binned.offsets, sorted_by_torch.offsets)
    assert lists(binned) == lists(sorted_by_torch)
    assert binned.longest == max(map(len, lists(binned)))
    assert len(binned.gaussians) == binned.offsets[-1]


def test_bins_back_off_after_lists_that_are_too_long(monkeypatch):
    monkeypatch.setattr(tiles, "_BACKOFFS", {})
    tried, binned = [], launch.lists_by_bins
    monkeypatch.setattr(launch, "lists_by_bins", lambda *_: tried.append(number))
    for number in range(10):  # noqa: B007
        tiles.intersect(projected_copy(count=3), *SIZE)
    assert tried == [0, 1, 3, 7]

    monkeypatch.setattr(launch, "lists_by_bins", binned)
    longest = [tiles.intersect(projected_copy(count=3), *SIZE).longest for _ in range(7)]
    assert [one is not None for one in longest] == [False] * 5 + [True] * 2


def test_a_list_that_is_too_long_is_no_bin(limits):
    limits(0, 0, 32, most_bin=2048)
    longest = tiles.intersect(projected_copy(), *SIZE).longest
    limits(0, 0, 32, most_bin=longest - 1)
    assert assert_lists_match_reference(projected_copy(), SIZE).longest is None
    limits(0, 0, 32, most_bin=longest)
    assert tiles.intersect(projected_copy(), *SIZE).longest == longest


def test_more_pairs_than_bins_are_good_for_are_no_bins(limits):
    limits(0, 0, 32, most_bin=2048)
    pairs = len(tiles.intersect(projected_copy(), *SIZE).gaussians)
    limits(0, 0, 32, most_bin=2048, MOST_BINNED=pairs)
    assert tiles.intersect(projected_copy(), *SIZE).longest is not None
    limits(0, 0, 32, most_bin=2048, MOST_BINNED=pairs - 1)
    assert tiles.intersect(projected_copy(), *SIZE).longest is None


@pytest.mark.parametrize("many", [2, 10**6], ids=["by-halves", "at-once"])
def test_numbers_of_tiles_that_need_32_bits_are_sorted_too(limits, monkeypatch, many):
    limits(0, 99, 4)
    monkeypatch.setattr(tiles, "MAX_INT16_TILES", 3)
    monkeypatch.setattr(tiles, "MIN_PAIRS_FOR_HALVES", many)
    monkeypatch.setattr(tiles, "PAIR_BYTES", 10**6)

    assert_lists_match_reference(projected_copy(), SIZE)


@pytest.mark.parametrize("count", [1, 2, 14])
def test_halves_make_the_same_lists(limits, monkeypatch, count):
    limits(0, 99, 4)
    whole = tiles.intersect(projected_copy(count=count), *SIZE)
    monkeypatch.setattr(tiles, "MIN_PAIRS_FOR_HALVES", 0)
    monkeypatch.setattr(tiles, "PAIR_BYTES", 10**6)
    joined = tiles.intersect(projected_copy(count=count), *SIZE)

    assert torch.equal(joined.offsets, whole.offsets)
    assert lists(joined) == lists(whole)


@pytest.mark.parametrize("stretch", [0.02, 40.0], ids=["tiny", "larger-than-the-image"])
def test_sizes_of_all_kinds(stretch):
    assert_lists_match_reference(projected_copy(stretch=stretch, images=1), SIZE)


def test_no_visible_gaussian_gives_no_pairs():
    tile_lists = tiles.intersect(projected_copy(count=0), *SIZE)

    assert tile_lists.gaussians.numel() == 0
    assert tile_lists.offsets.tolist() == [0] * (2 * tile_lists.tiles_x * tile_lists.tiles_y + 1)


def test_depths_below_zero_are_in_order(limits):
    """An orthographic camera may stand among the Gaussians."""
    limits(10**6, 99, 1)
    numbers = torch.Generator().manual_seed(5)
    gaussians = Gaussians(
        torch.randn(9, 3, generator=numbers), None, torch.ones(9, 4), torch.full((9, 3), 0.2), torch.full((9,), 0.8),
        torch.eye(4)[None], torch.tensor([[[8.0, 0, 8], [0, 8, 8], [0, 0, 1]]]),
    )  # fmt: skip
    projected = forward(gaussians, CameraSettings(16, 16, near=-5.0, camera="ortho"), count_tiles=True)

    assert (projected.records[..., 6] < 0).any()
    assert_lists_match_reference(projected, (16, 16))


@settings(max_examples=6, phases=(Phase.explicit, Phase.generate))
@given(some.integers(0, 10**6), some.integers(1, 40), some.integers(1, 40), some.sampled_from([0.1, 1.0, 5.0]))
def test_every_pair_occurs_once_in_any_image(seed, width, height, stretch):
    assert_lists_match_reference(
        projected_copy(count=6, images=1, size=(width, height), seed=seed, stretch=stretch), (width, height)
    )


@pytest.mark.parametrize(("pair", "halved"), [(1, False), (10**6, True)], ids=["fits", "too-much"])
def test_pairs_are_sorted_by_halves_where_a_sort_needs_most_memory(limits, monkeypatch, pair, halved):
    limits(0, 99, 4)
    monkeypatch.setattr(tiles, "MIN_PAIRS_FOR_HALVES", 0)
    monkeypatch.setattr(tiles, "PAIR_BYTES", pair)
    calls, by_halves = [], launch._by_halves
    monkeypatch.setattr(launch, "_by_halves", lambda *arguments: calls.append(1) or by_halves(*arguments))
    tiles.intersect(projected_copy(), *SIZE)

    assert bool(calls) == halved
