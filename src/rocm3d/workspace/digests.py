"""Digests of a file, and of the source code of a repository, which ignores results and other files."""

from __future__ import annotations

import hashlib
from collections.abc import Set
from pathlib import Path, PurePosixPath

from rocm3d.workspace.tree import Tree, TreeLimits

# Files that determine what a program does. Results, images and configuration that it writes do not count.
_CODE_SUFFIXES = {
    ".c", ".cc", ".cmake", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hip", ".hpp", ".hxx", ".inl", ".ipynb",
    ".py", ".pyi", ".pyx", ".sh",
}  # fmt: skip
_CODE_NAMES = {"CMakeLists.txt", "Makefile", "pyproject.toml", "setup.cfg"}
_MAX_FILES = 50_000


def file_digest(path: Path) -> str:
    """SHA-256 in hexadecimal, as printed by sha256sum. Read in chunks, because a file may be larger than memory."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def source_digest(root: Path, excluded: Set[str] = frozenset()) -> str:
    """SHA-256 of names and content of the source files in a folder, without some paths; empty if there are too many."""
    tree, digest = Tree.open(root, TreeLimits(files=_MAX_FILES)), hashlib.sha256()
    paths = tree.paths()
    if any(path == "." for path, _ in tree.skip_reasons):
        return ""
    for path in paths:
        name = PurePosixPath(path)
        if (name.suffix.lower() in _CODE_SUFFIXES or name.name in _CODE_NAMES) and path not in excluded:
            data = tree.read(path)
            content = f"{tree.size(path)} bytes" if data is None else hashlib.sha256(data).hexdigest()
            digest.update(f"{path!r} {content}\n".encode())
    return digest.hexdigest()
