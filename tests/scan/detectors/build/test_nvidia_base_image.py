from __future__ import annotations

import pytest

RULE = "nvidia_base_image"


@pytest.mark.parametrize("path", ["notes.txt", "setup.py", "Dockerfile.md", "a.cu"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, "FROM nvidia/cuda:12.1.1\n") == []
