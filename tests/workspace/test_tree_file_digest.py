from __future__ import annotations

import hashlib

import pytest

from rocm3d.workspace.tree import file_digest


def test_a_file_that_is_gone_raises(tmp_path):
    with pytest.raises(FileNotFoundError):
        file_digest(tmp_path / "none")


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_digest_of_a_large_file(tmp_path, size):
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    (tmp_path / "a").write_bytes(data)

    assert file_digest(tmp_path / "a") == hashlib.sha256(data).hexdigest()
