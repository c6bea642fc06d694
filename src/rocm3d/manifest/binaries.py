"""Compiled files by their names alone: libraries, wheels, device code. They are not opened."""

from __future__ import annotations

from pathlib import PurePosixPath

from rocm3d.manifest.manifest import Command, Manifest, Reader, pure

_SUFFIXES = frozenset({".whl", ".so", ".dll", ".pyd", ".a", ".lib", ".cubin", ".fatbin", ".ptx", ".engine"})


def suffix_of(path: str) -> str:
    """What kind of binary a path names; a library with a version behind its suffix is still one. Empty for others."""
    name = pure(path).name.lower()
    if ".so." in name and all(part.isdigit() for part in name.split(".so.", 1)[1].split(".")):
        return ".so"
    suffix = PurePosixPath(name).suffix
    return suffix if suffix in _SUFFIXES else ""


def is_binary(path: str) -> bool:
    """Whether the name is that of a compiled file."""
    return suffix_of(path) != ""


def read(path: str, data: bytes) -> Manifest:  # noqa: ARG001  (the name is all there is)
    """One command: the kind of binary, and the path."""
    return Manifest(path, reader.kind, commands=(Command(suffix_of(path), (path,), 1, 1),))


reader = Reader(__name__, is_binary, read, by_name=True)
