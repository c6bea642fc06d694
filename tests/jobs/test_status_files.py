"""Status files: complete ones are read, damaged ones have no ending."""

from __future__ import annotations

import fcntl
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.jobs.status_files import Attempt, attempts, ended_for, is_alive, read

WHOLE = {"digest": "d", "ending": "done", "code": 0, "signal": None, "seconds": 1.5, "ended": 2.0, "slot": "cpu-1"}


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"\xff" * 99, b"[" * 5000, json.dumps({"ending": "running"}).encode(), b"{}"]
)
def test_what_is_damaged_says_nothing_about_an_end(tmp_path, content):
    (tmp_path / "a.1").write_bytes(content)
    assert read(tmp_path, 1, "a.1") == Attempt(1)


def test_one_that_runs_has_not_ended_whatever_it_says(tmp_path):
    (tmp_path / "a.1.running").write_text(json.dumps(WHOLE))
    assert read(tmp_path, 1, "a.1.running") == Attempt(1, digest="d", slot="cpu-1")


def test_a_whole_one_is_read(tmp_path):
    (tmp_path / "a.2").write_text(json.dumps(WHOLE))
    assert read(tmp_path, 2, "a.2") == Attempt(2, "done", "d", 0, None, 1.5, 2.0, "cpu-1")


@given(
    st.dictionaries(st.sampled_from(sorted(WHOLE)), st.one_of(st.none(), st.text(), st.floats(), st.lists(st.none())))
)
def test_any_values_are_survived(tmp_path_factory, said):
    folder = tmp_path_factory.mktemp("status")
    (folder / "a.1").write_text(json.dumps({**WHOLE, **said}))
    assert isinstance(read(folder, 1, "a.1").seconds, float)


@pytest.mark.parametrize(
    ("ending", "why", "then"),
    [
        ("killed", "", "killed"),
        ("killed", "cancelled", "cancelled"),
        ("", "cancelled", "cancelled"),
        ("done", "cancelled", "done"),
    ],
)
def test_who_had_it_ended_says_so(ending, why, then):
    assert ended_for(Attempt(1, ending), why).ending == then


def test_names_with_dots_and_numbers_are_told_apart(tmp_path):
    for name in ("a.1", "a.2.running", "a.1.1", "x.running.3", "a", "a.0", ".tmp", "b.1", "b.1.running"):
        (tmp_path / name).touch()
    assert attempts(tmp_path) == {
        "a": {1: "a.1", 2: "a.2.running"},
        "a.1": {1: "a.1.1"},
        "x.running": {3: "x.running.3"},
        "b": {1: "b.1"},
    }


def test_one_that_is_locked_is_alive(tmp_path):
    place = tmp_path / "a.1.running"
    place.touch()
    assert not is_alive(tmp_path, place.name)
    assert not is_alive(tmp_path, "nowhere.1")
    with place.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert is_alive(tmp_path, place.name)
