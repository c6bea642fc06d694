from __future__ import annotations

import pytest

from rocm3d.scan.file_scan import scan_file
from rocm3d.scan.scan_cache import FileCache
from rocm3d.scan.selection import Selection
from rocm3d.workspace.result_cache import ResultCache

JOBS = [("a.cu", b"#include <device_launch_parameters.h>\n"), ("b.py", b"import pynvml\n")]


@pytest.fixture
def cache(tmp_path):
    return ResultCache(tmp_path / "scan.sqlite")


@pytest.fixture
def results(knowledge):
    return {path: scan_file(path, data, knowledge, Selection()) for path, data in JOBS}


def store_results(cache, results, basis="b"):
    file_cache = FileCache(cache, basis)
    assert list(file_cache.uncached(JOBS)) == JOBS
    assert dict(file_cache.store(results.items())) == results


@pytest.mark.parametrize("text", ["", "[]", '{"findings": 1}', "\0"])
def test_invalid_entry_is_ignored(cache, results, text):
    file_cache = FileCache(cache, "b")
    assert list(file_cache.uncached(JOBS)) == JOBS
    cache.put(dict.fromkeys(file_cache.keys.values(), text))

    assert list(FileCache(cache, "b").uncached(JOBS)) == JOBS


def test_other_bytes_path_or_key_prefix_are_not_cached(cache, results):
    store_results(cache, results)

    changed = [("a.cu", JOBS[0][1] + b"\n"), ("c/b.py", JOBS[1][1])]
    assert list(FileCache(cache, "b").uncached(changed)) == changed
    assert list(FileCache(cache, "other").uncached(JOBS)) == JOBS


def test_cached_results_are_equal(cache, results):
    store_results(cache, results)
    scan_cache = FileCache(cache, "b")

    assert list(scan_cache.uncached([*JOBS, ("new.py", b"")])) == [("new.py", b"")]
    assert scan_cache.cached == results


def test_jobs_are_read_lazily(cache):
    consumed = []
    jobs = ((f"{n}.py", b"") for n in range(2000) if not consumed.append(n))

    next(FileCache(cache, "b").uncached(jobs))

    assert len(consumed) < 1000
