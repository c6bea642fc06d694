"""Which files are source code by their names, and whether a folder that is ignored for its name has some."""

from __future__ import annotations

import os
from collections.abc import Iterator

_SUFFIXES = frozenset({
    ".c", ".cc", ".cmake", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hh", ".hip", ".hpp", ".hxx", ".inl", ".ipp",
    ".ipynb", ".py", ".pyi", ".pyx", ".sh", ".tpp", ".txx",
})  # fmt: skip
_NAMES = frozenset({"CMakeLists.txt", "Makefile", "pyproject.toml", "setup.cfg"})
# What the standard library and package managers write into an environment, at its top.
_OF_ENVIRONMENTS = frozenset({
    "bin", "conda-meta", "doc", "etc", "include", "Include", "lib", "Lib", "lib64", "man", "Scripts", "share", "src",
    "ssl", "var",
})  # fmt: skip
_ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})
_MAX_ENTRIES = 10_000


def is_code(name: str) -> bool:
    """Whether a file of this name, without folders, is source code or a build file."""
    return os.path.splitext(name)[1].lower() in _SUFFIXES or name in _NAMES  # noqa: PTH122  (called for each file)


def holds_code(folder: str) -> bool:
    """Whether a folder has source files that no package manager installed; also True if it is too large to tell.

    Installed packages are those below an environment (`pyvenv.cfg`, `conda-meta`) and below a `node_modules` beside a
    `package.json`. Reads names only and follows no link.
    """
    return any(is_code(name) or count >= _MAX_ENTRIES for count, name in enumerate(_own_files(folder)))


def _own_files(top: str) -> Iterator[str]:
    pending = [top]
    while pending:
        folder = pending.pop()
        if os.path.basename(folder) == "node_modules" and os.path.isfile(f"{folder}/../package.json"):  # noqa: PTH113, PTH119
            continue
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        is_environment = not _ENVIRONMENT_MARKS.isdisjoint(entry.name for entry in entries)
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                yield entry.name
            elif not (is_environment and entry.name in _OF_ENVIRONMENTS):
                pending.append(entry.path)
