from __future__ import annotations

import pytest
import torch
from tests.tiles.test_tiles import SIZE, lists, seen

from rocm3d_kernels import tiles, tuning
from rocm3d_kernels.gaussian import rasterization
from rocm3d_kernels.tiles import ahead

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(ahead, "_KNOWN", {})


def known(slots, choice=0):
    _, columns, rows = tiles.grid(choice, *SIZE)
    found = ahead.Known(choice, 2 * columns * rows, slots)
    ahead._KNOWN[ahead._place(2, 14, SIZE, torch.device("cpu"))] = found
    return found


def guessed(given):
    return ahead.guessed(seen(clear=tiles.counters(given.tiles)), SIZE, given)


def learned(one):
    return ahead.known(*one.radii.shape[:2], SIZE, one.radii.device)


def test_nobody_guesses_before_there_was_a_first_time():
    assert learned(seen()) is None


def test_too_few_slots_are_found_out_and_forgotten():
    assert guessed(known(slots=2)) is None
    assert learned(seen()) is None


@pytest.mark.parametrize(("times", "stays"), [(1, True), (2, True), (4, False)])
def test_a_guess_that_is_far_too_large_holds_and_is_forgotten(times, stays):
    assert guessed(known(times * ahead.LEAST_SLOTS)) is not None
    assert (learned(seen()) is not None) == stays


def test_nothing_lies_beyond_the_slots_of_a_tile(monkeypatch):
    """In memory that says so: one tile more than there are, and none of its places is touched."""
    given, made, empty = known(slots=2), [], torch.empty
    projected = seen(clear=tiles.counters(given.tiles))
    monkeypatch.setattr(torch, "empty", lambda n, **named: made.append(empty(n + 2, **named).fill_(77)) or made[-1])

    assert ahead.guessed(projected, SIZE, given) is None
    assert [one[-2:].tolist() for one in made] == [[77, 77]] * 2


def test_what_is_counted_lies_behind_what_others_add_to():
    """The zeros before it stay zeros."""
    given = known(slots=32)
    projected = seen(clear=100 + tiles.counters(given.tiles))

    assert ahead.guessed(projected, SIZE, given) is not None
    assert projected.cleared[:100].tolist() == [0.0] * 100
    assert projected.cleared[100:].view(torch.int32).sum() > 0


@pytest.mark.parametrize("large", [1, 32], ids=["each-by-itself", "side-by-side"])
@pytest.mark.parametrize("choice", [0, 1], ids=["coarse", "fine"])
def test_with_slots_enough_the_lists_are_those_of_one_who_waited(monkeypatch, choice, large):
    monkeypatch.setattr(tiles, "WORTH", (0, 99)[choice])
    tuning.insist("tiles", {"emit_tiles": {"LARGE": large}})
    waited = tiles.intersect(seen(), *SIZE)
    found = guessed(known(32, choice))
    tuning.insist("tiles", {})

    assert lists(found.packed()) == lists(waited)
    assert waited.packed() is waited


def test_a_guess_is_learned_from_lists_that_somebody_waited_for():
    one = seen()
    ahead.learn(one, SIZE, tiles.intersect(one, *SIZE))

    assert guessed(learned(one)) is not None


@pytest.mark.parametrize("limit", ["MOST_SLOTS", "SLOTS_IN_ALL", "MOST_GAUSSIANS"])
def test_a_large_scene_is_not_guessed(monkeypatch, limit):
    monkeypatch.setattr(ahead, limit, 1)
    one = seen()
    ahead.learn(one, SIZE, tiles.intersect(one, *SIZE))

    assert learned(one) is None


def test_pictures_and_gradients_are_the_same_however_wrong_the_guess():
    """Views of which the second has far longer lists than the first."""
    numbers = torch.Generator().manual_seed(1)
    given = [torch.randn(8, 3, generator=numbers), torch.randn(8, 4, generator=numbers),
             torch.rand(8, 3, generator=numbers) * 0.3, torch.rand(8, generator=numbers),
             torch.rand(8, 3, generator=numbers)]  # fmt: skip
    lens = torch.tensor([[[20.0, 0, 12], [0, 20, 8], [0, 0, 1]]])

    def drawn(distance):
        view = torch.eye(4)[None].clone()
        view[:, 2, 3] = distance
        leaves = [one.clone().requires_grad_() for one in given]
        image, _, meta = rasterization(*leaves, view, lens, 24, 16)
        image.square().sum().backward()
        return [image.detach(), *[one.grad for one in leaves]], len(meta["flatten_ids"])

    waited = []
    for distance in (40.0, 2.5):  # far and small, near and large
        ahead._KNOWN.clear()
        waited.append(drawn(distance))
    ahead._KNOWN = dict.fromkeys(ahead._KNOWN, ahead.Known(choice=0, tiles=2, slots=1))
    for which in (1, 0, 1):
        (found, pairs), (wanted, all_pairs) = drawn((40.0, 2.5)[which]), waited[which]
        assert pairs == all_pairs
        for have, must in zip(found, wanted, strict=True):
            # Tiles of another size add up in another order.
            torch.testing.assert_close(have, must, rtol=1e-4, atol=1e-5)


def test_who_goes_back_twice_gets_the_same_both_times():
    """Gradients are added to zeros that the projection left, and those are zeros once only."""
    numbers = torch.Generator().manual_seed(1)
    given = [torch.randn(8, 3, generator=numbers), torch.randn(8, 4, generator=numbers),
             torch.rand(8, 3, generator=numbers) * 0.3, torch.rand(8, generator=numbers),
             torch.rand(8, 3, generator=numbers)]  # fmt: skip
    view, lens = torch.eye(4)[None].clone(), torch.tensor([[[20.0, 0, 12], [0, 20, 8], [0, 0, 1]]])
    view[:, 2, 3] = 6.0
    for _ in range(2):  # the second time by a guess
        leaves = [one.clone().requires_grad_() for one in given]
        image = rasterization(*leaves, view, lens, 24, 16)[0]
    assert any(ahead._KNOWN.values())
    first = torch.autograd.grad(image.square().sum(), leaves, retain_graph=True)
    second = torch.autograd.grad(image.square().sum(), leaves)

    for one, other in zip(first, second, strict=True):
        assert one.abs().max() > 0
        torch.testing.assert_close(one, other, rtol=0, atol=0)
