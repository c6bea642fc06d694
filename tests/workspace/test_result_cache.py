from __future__ import annotations

import sqlite3
import sys
from contextlib import ExitStack, closing

from processes import Program
from waiting import DEADLINE, wait_for_exit

from rocm3d.workspace.result_cache import ResultCache


def test_unusable_cache_folder_means_no_cache(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("ROCM3D_CACHE", str(tmp_path / "file"))

    assert ResultCache.open("x") is None


def test_a_file_that_is_no_database_is_not_an_error_and_is_replaced(tmp_path):
    cache = ResultCache(tmp_path / "c.sqlite")
    cache.path.write_bytes(b"garbage " * 200)

    assert cache.get(["a"]) == {}
    cache.put({"a": "1"})
    cache.put({"a": "1"})

    assert cache.get(["a"]) == {"a": "1"}


def test_values_come_back_and_unknown_keys_do_not(tmp_path):
    cache = ResultCache(tmp_path / "c.sqlite")

    cache.put({"a": "1", "b": "2"})
    cache.put({"a": "3"})

    assert cache.get(["a", "b", "c"]) == {"a": "3", "b": "2"}


def test_cache_over_the_limit_is_cleared(tmp_path, monkeypatch):
    monkeypatch.setattr("rocm3d.workspace.result_cache.LIMIT_BYTES", 1000)
    cache = ResultCache(tmp_path / "c.sqlite")

    cache.put({"a": "x" * 5000})
    cache.put({"b": "1"})

    assert cache.get(["a", "b"]) == {"b": "1"}


def test_locked_cache_is_not_deleted(tmp_path, monkeypatch):
    monkeypatch.setattr("rocm3d.workspace.result_cache._LOCK_TIMEOUT_SECONDS", 0.05)
    cache = ResultCache(tmp_path / "c.sqlite")
    cache.put({"a": "1"})
    with closing(sqlite3.connect(cache.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        cache.put({"b": "2"})
        assert cache.get(["a"]) == {}

    assert cache.get(["a", "b"]) == {"a": "1"}


def test_several_processes_may_write_at_once(tmp_path):
    path = tmp_path / "c.sqlite"
    script = (
        "import sys; from pathlib import Path; from rocm3d.workspace import result_cache\n"
        f"result_cache._LOCK_TIMEOUT_SECONDS = {DEADLINE}\n"
        "cache = result_cache.ResultCache(Path(sys.argv[1]))\n"
        "for n in range(20): cache.put({f'{sys.argv[2]}-{n}': 'v'})\n"
    )
    with ExitStack() as stack:
        command = [sys.executable, "-c", script, str(path)]
        children = [stack.enter_context(Program([*command, str(number)])) for number in range(3)]

        assert [wait_for_exit(child) for child in children] == [0, 0, 0]
    keys = [f"{n}-{m}" for n in range(3) for m in range(20)]
    assert set(ResultCache(path).get(keys)) == set(keys)
