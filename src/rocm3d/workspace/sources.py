"""The code of a repository as one digest: whether it is still what it was, whatever else lies there by now."""

from __future__ import annotations

import hashlib
from collections.abc import Set
from pathlib import Path, PurePosixPath

from rocm3d.workspace.tree import Limits, Tree

# What decides what a program does; results, pictures and configuration that it writes do not.
_CODE = {
    ".c", ".cc", ".cmake", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hip", ".hpp", ".hxx", ".inl", ".ipynb",
    ".py", ".pyi", ".pyx", ".sh",
}  # fmt: skip
_NAMES = {"CMakeLists.txt", "Makefile", "pyproject.toml", "setup.cfg"}
_MOST = 50_000


def source_digest(root: Path, without: Set[str] = frozenset()) -> str:
    """SHA-256 over names and bytes of the code below a folder, some paths left out; empty where there is too much."""
    tree, whole = Tree.open(root, Limits(files=_MOST)), hashlib.sha256()
    paths = tree.paths()
    if any(path == "." for path, _ in tree.troubles):
        return ""
    for path in paths:
        name = PurePosixPath(path)
        if (name.suffix.lower() in _CODE or name.name in _NAMES) and path not in without:
            data = tree.read(path)
            content = f"{tree.size(path)} bytes" if data is None else hashlib.sha256(data).hexdigest()
            whole.update(f"{path!r} {content}\n".encode())
    return whole.hexdigest()
