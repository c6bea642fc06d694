from __future__ import annotations

import hashlib
import os

import pytest

from rocm3d.workspace.lfs_pointer import LfsPointer

CONTENT = b"weights"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{DIGEST}\nsize 7\n".encode()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"version https://git-lfs.github.com/spec/v1\n",
        POINTER.replace(b"sha256:", b"sha1:"),
        POINTER.replace(b"size 7", b"size -7"),
        POINTER.replace(b"size 7", b"size " + b"9" * 40),
        POINTER + b"more\n",
        POINTER.replace(b"oid", b"ext-0-foo sha256:00\noid"),
        POINTER.replace(b"\n", b"\r\n"),
    ],
)
def test_other_texts_are_no_pointers(text):
    assert LfsPointer.parse(text) is None


def test_a_pointer_is_the_content_of_one_file(tmp_path):
    pointer = LfsPointer.parse(POINTER)
    assert pointer == LfsPointer(DIGEST, 7)
    (tmp_path / "same").write_bytes(CONTENT)
    (tmp_path / "other").write_bytes(b"Weights")
    (tmp_path / "longer").write_bytes(CONTENT * 2)
    (tmp_path / "link").symlink_to("same")
    os.mkfifo(tmp_path / "pipe")
    assert [
        name for name in ("same", "other", "longer", "link", "pipe", "none") if pointer.is_content_of(tmp_path / name)
    ] == ["same"]
