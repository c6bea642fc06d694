"""How torch's hipify names what it writes for an extension: read in get_hip_file_path of hipify_python.py."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath


def hip_path(path: str, words: Mapping[str, str]) -> str:
    """Where the translation of a source goes; `words` are replaced in folders and names, and no name stays as it is."""
    old = PurePosixPath(path)
    folder, stem = _renamed(old.parent.as_posix(), words), _renamed(old.stem, words)
    suffix = ".hip" if old.suffix == ".cu" else old.suffix
    if folder == old.parent.as_posix() and stem + suffix == old.name:
        stem += "_hip"
    return (PurePosixPath(folder) / (stem + suffix)).as_posix()


def _renamed(name: str, words: Mapping[str, str]) -> str:
    for word, other in words.items():
        name = name.replace(word, other)
    return name
