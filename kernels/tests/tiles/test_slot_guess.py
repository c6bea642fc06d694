from __future__ import annotations

import functools

import pytest
from tests.device import DEVICE
from tests.tiles.test_tiles import SIZE, projected_copy

from rocm3d_kernels import backoff, tiles
from rocm3d_kernels.tiles import slot_guess

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
SCENE = (2, 14, SIZE, DEVICE)


@pytest.fixture(autouse=True)
def no_guesses(monkeypatch):
    monkeypatch.setattr(slot_guess, "_HISTORIES", {})


@functools.cache
def intersected(**named):
    """Cached: the interpreter is slow."""
    projected = projected_copy(**named)
    return projected, tiles.intersect(projected, *SIZE)


def learn_guess():
    projected, lists = intersected()
    slot_guess.learn_guess(projected, SIZE, lists)
    return slot_guess.find_guess(*SCENE)


def test_no_guess_before_the_first_rendering():
    assert slot_guess.find_guess(*SCENE) is None


def test_too_few_slots_invalidate_the_guess():
    guess = learn_guess()

    assert not slot_guess.check_slots(guess.slots + 1, guess, *SCENE)
    assert slot_guess.find_guess(*SCENE) is None
    assert learn_guess() == guess


def test_wait_doubles_after_each_wrong_guess(monkeypatch):
    monkeypatch.setattr(backoff, "MAX_PERIOD", 4)
    skipped = []
    for _ in range(5):
        skipped.append(0)
        while (guess := learn_guess()) is None:
            skipped[-1] += 1
        slot_guess.check_slots(guess.slots + 1, guess, *SCENE)

    assert skipped == [0, 0, 1, 3, 3]


def test_far_fewer_pairs_end_the_wait(monkeypatch):
    """Another scene of as many Gaussians, to which the backoff does not apply."""
    monkeypatch.setattr(slot_guess, "MAX_SLOTS", 1)
    for _ in range(4):
        assert learn_guess() is None
    monkeypatch.setattr(slot_guess, "MAX_SLOTS", 1024)
    assert learn_guess() is None
    few, lists = intersected(stretch=0.01)
    assert 2 * len(lists.gaussians) < slot_guess._HISTORIES[SCENE].pairs
    slot_guess.learn_guess(few, SIZE, lists)

    assert slot_guess.find_guess(*SCENE) is not None


def test_good_guesses_reset_the_backoff():
    for _ in range(3):
        while (guess := learn_guess()) is None:
            pass
        slot_guess.check_slots(guess.slots + 1, guess, *SCENE)
    while (guess := learn_guess()) is None:
        pass
    for _ in range(slot_guess.STREAK_LENGTH):
        assert slot_guess.check_slots(guess.slots, guess, *SCENE)
    slot_guess.check_slots(guess.slots + 1, guess, *SCENE)

    assert learn_guess() == guess


def test_oversized_guess_is_dropped_after_a_streak():
    guess = learn_guess()
    large = slot_guess._HISTORIES[SCENE].guess = guess._replace(slots=4 * guess.slots)
    for longest in (*[1] * (slot_guess.STREAK_LENGTH - 1), guess.slots, *[1] * (slot_guess.STREAK_LENGTH - 1)):
        assert slot_guess.check_slots(longest, large, *SCENE)
        assert slot_guess.find_guess(*SCENE) == large

    assert slot_guess.check_slots(1, large, *SCENE)
    assert slot_guess.find_guess(*SCENE) is None
    assert learn_guess() == guess


def test_slightly_oversized_guess_stays():
    guess = learn_guess()
    large = slot_guess._HISTORIES[SCENE].guess = guess._replace(slots=2 * slot_guess.MIN_SLOTS)
    for _ in range(2 * slot_guess.STREAK_LENGTH):
        assert slot_guess.check_slots(1, large, *SCENE)

    assert slot_guess.find_guess(*SCENE) == large


def test_an_existing_guess_is_not_relearned():
    guess = learn_guess()._replace(slots=7)
    slot_guess._HISTORIES[SCENE].guess = guess

    assert learn_guess() == guess


def test_histories_are_bounded(monkeypatch):
    monkeypatch.setattr(slot_guess, "_MAX_SCENES", 1)
    learn_guess()
    projected, lists = intersected(count=3)
    slot_guess.learn_guess(projected, SIZE, lists)

    assert len(slot_guess._HISTORIES) == 1


def test_a_guess_is_learned_from_intersected_lists():
    guess, (_, lists) = learn_guess(), intersected()
    longest = int(lists.offsets.diff().max())
    assert longest == lists.longest

    assert (guess.tiles, guess.choice) == (lists.tiles, int(lists.side == tiles.tile_grid(1, *SIZE)[0]))
    assert longest < guess.slots
    assert slot_guess.check_slots(longest, guess, *SCENE)
    assert slot_guess.find_guess(*SCENE) == guess


@pytest.mark.parametrize("limit", ["MAX_SLOTS", "MAX_TOTAL_SLOTS", "MAX_GAUSSIANS"])
def test_a_large_scene_is_not_guessed(monkeypatch, limit):
    monkeypatch.setattr(slot_guess, limit, 1)

    assert learn_guess() is None
