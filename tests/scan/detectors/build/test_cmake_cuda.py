from __future__ import annotations

import pytest

RULE = "cmake_cuda"


@pytest.mark.parametrize("path", ["setup.py", "a.cu", "notes.txt", "Dockerfile"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, "find_package(CUDA REQUIRED)\n") == []
