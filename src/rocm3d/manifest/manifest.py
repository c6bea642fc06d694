"""What every manifest reader gives: who is named where. One reader per kind of file, found by walking this package."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import PurePosixPath

from rocm3d import manifest


@dataclass(frozen=True)
class Mention:
    """One distribution by name: its parts, its text, and the lines it covers. `section` says where it stands."""

    name: str
    text: str
    line: int
    column: int
    last_line: int
    version: str = ""
    extras: frozenset[str] = frozenset()
    url: str = ""
    section: str = ""


@dataclass(frozen=True)
class Option:
    """Places to install from, or other files that are read with this one."""

    urls: tuple[str, ...]
    includes: tuple[str, ...]
    line: int
    column: int
    last_line: int


@dataclass(frozen=True)
class Image:
    """A container image that something is built on."""

    name: str
    line: int
    column: int


@dataclass(frozen=True)
class Command:
    """A command of a build script or installer: its name, its words, its place."""

    name: str
    arguments: tuple[str, ...]
    line: int
    column: int


@dataclass(frozen=True)
class Submodule:
    """Another repository inside this one."""

    path: str
    url: str
    line: int
    column: int


@dataclass(frozen=True)
class Manifest:
    """One file as a reader saw it. `unread` are lines that could not be understood, with the reason."""

    path: str
    kind: str
    data: bytes = b""
    mentions: tuple[Mention, ...] = ()
    options: tuple[Option, ...] = ()
    images: tuple[Image, ...] = ()
    commands: tuple[Command, ...] = ()
    submodules: tuple[Submodule, ...] = ()
    unread: tuple[tuple[int, str], ...] = ()

    @cached_property
    def lines(self) -> list[bytes]:
        """The file cut at its line feeds: every mention asks for them, so they are cut once."""
        return self.data.split(b"\n")


@dataclass(frozen=True)
class Reader:
    """One kind of file: which paths, and how to read their bytes. `by_name` needs the path alone, not the bytes.

    `needs` is for readers of many files: one without all of these bytes holds nothing for it and is not parsed.
    """

    module: str
    matches: Callable[[str], bool]
    read: Callable[[str, bytes], Manifest]
    by_name: bool = False
    needs: tuple[bytes, ...] = ()

    @property
    def kind(self) -> str:
        """What the manifest is called."""
        return self.module.rsplit(".", 1)[-1]


@lru_cache(maxsize=1)
def pure(path: str) -> PurePosixPath:
    """A path in its parts. Every reader is asked about the same one in turn, so it is taken apart once."""
    return PurePosixPath(path)


@cache
def readers() -> tuple[Reader, ...]:
    """Every reader, by kind. The package is walked; there is no list to edit."""
    names = sorted(item.name for item in pkgutil.iter_modules(manifest.__path__))
    modules = (importlib.import_module(f"{manifest.__name__}.{name}") for name in names)
    return tuple(module.reader for module in modules if hasattr(module, "reader"))
