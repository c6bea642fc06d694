"""Status files: complete ones are read, damaged ones have no ending."""

from __future__ import annotations

import fcntl
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.jobs.status_files import Attempt, is_alive, list_attempts, read_attempt, with_stop_reason

COMPLETE = {"digest": "d", "ending": "done", "code": 0, "signal": None, "seconds": 1.5, "ended": 2.0, "slot": "cpu-1"}


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"\xff" * 99, b"[" * 5000, json.dumps({"ending": "running"}).encode(), b"{}"]
)
def test_damaged_file_has_no_ending(tmp_path, content):
    (tmp_path / "a.1").write_bytes(content)
    assert read_attempt(tmp_path, 1, "a.1") == Attempt(1)


def test_running_file_has_no_ending(tmp_path):
    (tmp_path / "a.1.running").write_text(json.dumps(COMPLETE))
    assert read_attempt(tmp_path, 1, "a.1.running") == Attempt(1, digest="d", slot="cpu-1")


def test_complete_file_is_read(tmp_path):
    (tmp_path / "a.2").write_text(json.dumps(COMPLETE))
    assert read_attempt(tmp_path, 2, "a.2") == Attempt(2, "done", "d", 0, None, 1.5, 2.0, "cpu-1")


@given(
    st.dictionaries(
        st.sampled_from(sorted(COMPLETE)), st.one_of(st.none(), st.text(), st.floats(), st.lists(st.none()))
    )
)
def test_invalid_values_do_not_raise(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("status")
    (folder / "a.1").write_text(json.dumps({**COMPLETE, **values}))
    assert isinstance(read_attempt(folder, 1, "a.1").seconds, float)


@pytest.mark.parametrize(
    ("ending", "why", "then"),
    [
        ("killed", "", "killed"),
        ("killed", "cancelled", "cancelled"),
        ("", "cancelled", "cancelled"),
        ("done", "cancelled", "done"),
    ],
)
def test_stop_reason_replaces_killed(ending, why, then):
    assert with_stop_reason(Attempt(1, ending), why).ending == then


def test_file_names_with_dots_and_numbers_are_parsed(tmp_path):
    for name in ("a.1", "a.2.running", "a.1.1", "x.running.3", "a", "a.0", ".tmp", "b.1", "b.1.running"):
        (tmp_path / name).touch()
    assert list_attempts(tmp_path) == {
        "a": {1: "a.1", 2: "a.2.running"},
        "a.1": {1: "a.1.1"},
        "x.running": {3: "x.running.3"},
        "b": {1: "b.1"},
    }


def test_locked_file_means_alive(tmp_path):
    status_path = tmp_path / "a.1.running"
    status_path.touch()
    assert not is_alive(tmp_path, status_path.name)
    assert not is_alive(tmp_path, "nowhere.1")
    with status_path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert is_alive(tmp_path, status_path.name)
