from __future__ import annotations

import functools

import pytest
from tests.device import DEVICE
from tests.tiles.test_tiles import SIZE, seen

from rocm3d_kernels import tiles
from rocm3d_kernels.tiles import ahead, patience

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
PLACE = (2, 14, SIZE, DEVICE)


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(ahead, "_PLACES", {})


@functools.cache
def waited_for(**named):
    """Cached: the interpreter is slow."""
    one = seen(**named)
    return one, tiles.intersect(one, *SIZE)


def learned():
    one, lists = waited_for()
    ahead.learn(one, SIZE, lists)
    return ahead.known(*PLACE)


def test_nobody_guesses_before_there_was_a_first_time():
    assert ahead.known(*PLACE) is None


def test_too_few_slots_are_found_out_and_forgotten():
    found = learned()

    assert not ahead.enough(found.slots + 1, found, *PLACE)
    assert ahead.known(*PLACE) is None
    assert learned() == found


def test_who_guesses_in_vain_waits_longer_each_time(monkeypatch):
    monkeypatch.setattr(patience, "LONGEST", 4)
    waited = []
    for _ in range(5):
        waited.append(0)
        while (found := learned()) is None:
            waited[-1] += 1
        ahead.enough(found.slots + 1, found, *PLACE)

    assert waited == [0, 0, 1, 3, 3]


def test_who_has_far_fewer_pairs_does_not_wait(monkeypatch):
    """Another scene of as many Gaussians, to which the backoff does not apply."""
    monkeypatch.setattr(ahead, "MOST_SLOTS", 1)
    for _ in range(4):
        assert learned() is None
    monkeypatch.setattr(ahead, "MOST_SLOTS", 1024)
    assert learned() is None
    few, lists = waited_for(stretch=0.01)
    assert 2 * len(lists.gaussians) < ahead._PLACES[PLACE].pairs
    ahead.learn(few, SIZE, lists)

    assert ahead.known(*PLACE) is not None


def test_many_good_guesses_make_up_for_those_in_vain():
    for _ in range(3):
        while (found := learned()) is None:
            pass
        ahead.enough(found.slots + 1, found, *PLACE)
    while (found := learned()) is None:
        pass
    for _ in range(ahead.ENOUGH):
        assert ahead.enough(found.slots, found, *PLACE)
    ahead.enough(found.slots + 1, found, *PLACE)

    assert learned() == found


def test_a_guess_that_is_far_too_large_holds_and_is_forgotten_when_it_stays_so():
    found = learned()
    large = ahead._PLACES[PLACE].guess = found._replace(slots=4 * found.slots)
    for longest in (*[1] * (ahead.ENOUGH - 1), found.slots, *[1] * (ahead.ENOUGH - 1)):
        assert ahead.enough(longest, large, *PLACE)
        assert ahead.known(*PLACE) == large

    assert ahead.enough(1, large, *PLACE)
    assert ahead.known(*PLACE) is None
    assert learned() == found


def test_a_guess_that_is_a_little_too_large_stays():
    found = learned()
    large = ahead._PLACES[PLACE].guess = found._replace(slots=2 * ahead.LEAST_SLOTS)
    for _ in range(2 * ahead.ENOUGH):
        assert ahead.enough(1, large, *PLACE)

    assert ahead.known(*PLACE) == large


def test_nobody_looks_where_there_is_a_guess():
    given = learned()._replace(slots=7)
    ahead._PLACES[PLACE].guess = given

    assert learned() == given


def test_places_are_not_remembered_without_end(monkeypatch):
    monkeypatch.setattr(ahead, "_REMEMBERED", 1)
    learned()
    one, lists = waited_for(count=3)
    ahead.learn(one, SIZE, lists)

    assert len(ahead._PLACES) == 1


def test_a_guess_is_learned_from_lists_that_somebody_waited_for():
    found, (_, waited) = learned(), waited_for()
    longest = int(waited.offsets.diff().max())
    assert longest == waited.longest

    assert (found.tiles, found.choice) == (waited.tiles, int(waited.side == tiles.grid(1, *SIZE)[0]))
    assert longest < found.slots
    assert ahead.enough(longest, found, *PLACE)
    assert ahead.known(*PLACE) == found


@pytest.mark.parametrize("limit", ["MOST_SLOTS", "SLOTS_IN_ALL", "MOST_GAUSSIANS"])
def test_a_large_scene_is_not_guessed(monkeypatch, limit):
    monkeypatch.setattr(ahead, limit, 1)

    assert learned() is None
