"""Compiled files (libraries, wheels, device code), recognised by name. They are not opened."""

from __future__ import annotations

from pathlib import PurePosixPath

from rocm3d.manifest.manifest import Command, Manifest, Reader, pure

_SUFFIXES = frozenset({".whl", ".so", ".dll", ".pyd", ".a", ".lib", ".cubin", ".fatbin", ".ptx", ".engine"})


def suffix_of(path: str) -> str:
    """The suffix of a compiled file, `.so` also for `.so.1.2`; empty for other files."""
    name = pure(path).name.lower()
    if ".so." in name and all(part.isdigit() for part in name.split(".so.", 1)[1].split(".")):
        return ".so"
    suffix = PurePosixPath(name).suffix
    return suffix if suffix in _SUFFIXES else ""


def is_binary(path: str) -> bool:
    return suffix_of(path) != ""


def read(path: str, data: bytes) -> Manifest:  # noqa: ARG001  (the content is not read)
    """A manifest with one command: the suffix, with the path as argument."""
    return Manifest(path, reader.kind, commands=(Command(suffix_of(path), (path,), 1, 1),))


reader = Reader(__name__, is_binary, read, by_name=True)
