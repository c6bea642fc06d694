"""Compiled files (libraries, wheels, device code), recognised by name. They are not opened."""

from __future__ import annotations

from pathlib import PurePosixPath

from rocm3d.manifest.manifest import ManifestReader, ParsedManifest, ScriptCommand, posix_path

_SUFFIXES = frozenset({".whl", ".so", ".dll", ".pyd", ".a", ".lib", ".cubin", ".fatbin", ".ptx", ".engine"})


def binary_suffix(path: str) -> str:
    """The suffix of a compiled file, `.so` also for `.so.1.2`; empty for other files."""
    name = posix_path(path).name.lower()
    if ".so." in name and all(part.isdigit() for part in name.split(".so.", 1)[1].split(".")):
        return ".so"
    suffix = PurePosixPath(name).suffix
    return suffix if suffix in _SUFFIXES else ""


def is_binary(path: str) -> bool:
    return binary_suffix(path) != ""


def read(path: str, data: bytes) -> ParsedManifest:  # noqa: ARG001  (the content is not read)
    """A manifest with one command: the suffix, with the path as argument."""
    return ParsedManifest(path, reader.kind, commands=(ScriptCommand(binary_suffix(path), (path,), 1, 1),))


reader = ManifestReader(__name__, is_binary, read, by_name=True)
