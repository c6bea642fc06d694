from __future__ import annotations

import os

import pytest

from rocm3d.scan import pool
from rocm3d.scan.file_scan import scan_file
from rocm3d.scan.pool import MIN_FILES_FOR_POOL, scan_files
from rocm3d.scan.selection import Selection

LINE = b"#include <device_launch_parameters.h>\n"


def jobs(count):
    return [(f"a{n}.cu", LINE if n % 3 else b"int x;\n") for n in range(count)]


def test_no_files(knowledge):
    assert list(scan_files([], knowledge, Selection())) == []


def test_few_files_need_no_pool(knowledge, monkeypatch):
    monkeypatch.setattr(pool, "_pool", None)

    assert len(list(scan_files(jobs(5), knowledge, Selection()))) == 5


@pytest.mark.parametrize("workers", [1, 2])
def test_pool_equals_single_process(knowledge, workers):
    all_jobs = jobs(MIN_FILES_FOR_POOL + 7)

    results = dict(scan_files(all_jobs, knowledge, Selection(), workers))

    assert results == {path: scan_file(path, data, knowledge, Selection()) for path, data in all_jobs}


def test_crashing_file_is_skipped(knowledge, monkeypatch):
    def deadly(path, data, *arguments):
        if path == "a50.cu":
            os._exit(9)
        return scan_file(path, data, *arguments)

    monkeypatch.setattr(pool, "scan_file", deadly)
    arguments = jobs(MIN_FILES_FOR_POOL + 7)

    results = dict(scan_files(arguments, knowledge, Selection(), 2))

    assert set(results) == {path for path, _ in arguments}
    assert [entry.reason for entry in results["a50.cu"].skipped] == ["crashed the parser"]
    assert results["a49.cu"].findings
