from __future__ import annotations

import os

import pytest

from rocm3d.scan import pool
from rocm3d.scan.file import look_at
from rocm3d.scan.pool import SMALL, look_at_all
from rocm3d.scan.selection import Selection

LINE = b"#include <device_launch_parameters.h>\n"


def jobs(count):
    return [(f"a{n}.cu", LINE if n % 3 else b"int x;\n") for n in range(count)]


def test_no_file_no_result(knowledge):
    assert list(look_at_all([], knowledge, Selection())) == []


def test_few_files_need_no_pool(knowledge, monkeypatch):
    monkeypatch.setattr(pool, "_pool", None)

    assert len(list(look_at_all(jobs(5), knowledge, Selection()))) == 5


@pytest.mark.parametrize("workers", [1, 2])
def test_the_pool_gives_what_one_process_gives(knowledge, workers):
    given = jobs(SMALL + 7)

    found = dict(look_at_all(given, knowledge, Selection(), workers))

    assert found == {path: look_at(path, data, knowledge, Selection()) for path, data in given}


def test_a_file_that_kills_its_process_is_named_and_the_rest_is_done(knowledge, monkeypatch):
    def deadly(path, data, *given):
        if path == "a50.cu":
            os._exit(9)
        return look_at(path, data, *given)

    monkeypatch.setattr(pool, "look_at", deadly)
    given = jobs(SMALL + 7)

    found = dict(look_at_all(given, knowledge, Selection(), 2))

    assert set(found) == {path for path, _ in given}
    assert [item.reason for item in found["a50.cu"].skipped] == ["crashed the parser"]
    assert found["a49.cu"].findings
