from __future__ import annotations

import pytest

RULE = "cuda_index"
INDEX = "https://download.pytorch.org/whl/cu121"


@pytest.mark.parametrize("path", ["notes.txt", "setup.py", "README.md"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, f"--extra-index-url {INDEX}\n") == []
