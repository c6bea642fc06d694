from __future__ import annotations

import pytest

from rocm3d.scan.auxiliary_files import is_auxiliary


@pytest.mark.parametrize(
    "path",
    [
        "a.py",
        "src/latest/a.py",
        "tester.py",
        "mytests/a.py",
        "third_party/a.cu",
        "contest.py",
        "tests",
        "protest_a/b.cu",
    ],
)
def test_program_files_are_not_auxiliary(path):
    assert not is_auxiliary(path)


@pytest.mark.parametrize(
    "path",
    ["tests/a.py", "a/test/b.cu", "Docs/conf.py", "examples/x/setup.py", "samples/a.cpp", "benchmark/a.py",
     "tutorials/a.ipynb", "test_a.py", "src/a_test.cu", "src/a_tests.cpp", "conftest.py"],
)  # fmt: skip
def test_auxiliary_files(path):
    assert is_auxiliary(path)
