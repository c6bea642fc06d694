from __future__ import annotations

import pytest

from rocm3d.scan.file import look_at
from rocm3d.scan.seen import Seen
from rocm3d.scan.selection import Selection
from rocm3d.workspace.result_cache import ResultCache

JOBS = [("a.cu", b"#include <device_launch_parameters.h>\n"), ("b.py", b"import pynvml\n")]


@pytest.fixture
def cache(tmp_path):
    return ResultCache(tmp_path / "scan.sqlite")


@pytest.fixture
def results(knowledge):
    return {path: look_at(path, data, knowledge, Selection()) for path, data in JOBS}


def kept(cache, results, basis="b"):
    seen = Seen(cache, basis)
    assert list(seen.new(JOBS)) == JOBS
    assert dict(seen.kept(results.items())) == results


@pytest.mark.parametrize("text", ["", "[]", '{"findings": 1}', "\0"])
def test_what_somebody_else_wrote_is_not_taken(cache, results, text):
    seen = Seen(cache, "b")
    assert list(seen.new(JOBS)) == JOBS
    cache.put(dict.fromkeys(seen.keys.values(), text))

    assert list(Seen(cache, "b").new(JOBS)) == JOBS


def test_other_bytes_another_path_or_another_basis_are_new(cache, results):
    kept(cache, results)

    changed = [("a.cu", JOBS[0][1] + b"\n"), ("c/b.py", JOBS[1][1])]
    assert list(Seen(cache, "b").new(changed)) == changed
    assert list(Seen(cache, "other").new(JOBS)) == JOBS


def test_what_was_seen_comes_back_as_it_was(cache, results):
    kept(cache, results)
    seen = Seen(cache, "b")

    assert list(seen.new([*JOBS, ("new.py", b"")])) == [("new.py", b"")]
    assert seen.found == results


def test_jobs_are_read_as_they_are_needed(cache):
    taken = []
    jobs = ((f"{n}.py", b"") for n in range(2000) if not taken.append(n))

    next(Seen(cache, "b").new(jobs))

    assert len(taken) < 1000
