"""The result types of all manifest readers. Readers are found by walking this package, one per kind of file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import PurePosixPath
from typing import Literal

from rocm3d.model.registry import load_modules
from rocm3d.model.toml import TomlError

CATEGORY_SECTION = "pipenv-category"  # of a Pipfile; the name of the category follows after a colon
# Requirements of builds, tests and extras do not belong to a plain install.
_NOT_INSTALLED = frozenset(
    {"build-system", "optional", "setup_requires", "tests_require", "extras_require", "hatch", "pdm", "uv"}
    | {CATEGORY_SECTION}
)


IndexScope = Literal["file", "command", "environment", "named"]
"""What an index serves: its file and the includes, its command, every install of the repository, or who names it."""


@dataclass(frozen=True)
class Mention:
    """One mention of a distribution in a file. `text` is the original text, `section` the part of the file.

    `indexes` are those that its own command or its own entry names: URLs, or names of indexes of the same file.
    """

    name: str
    text: str
    line: int
    column: int
    last_line: int
    version: str = ""
    extras: frozenset[str] = frozenset()
    url: str = ""
    section: str = ""
    indexes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def is_installed(self) -> bool:
        """Whether a plain install of the repository installs it, by the section that names it."""
        return self.section.split(":")[0] not in _NOT_INSTALLED


@dataclass(frozen=True)
class InstallOption:
    """An install option: package indexes (`urls`), or other requirements files (`includes`).

    `indexes` are all indexes of its command; `name` is the name that the file gives to the index.
    """

    urls: tuple[str, ...]
    includes: tuple[str, ...]
    line: int
    column: int
    last_line: int
    scope: IndexScope = field(default="file", compare=False)
    indexes: tuple[str, ...] = field(default=(), compare=False)
    name: str = field(default="", compare=False)
    links: bool = field(default=False, compare=False)  # a page or folder of files, as for --find-links
    channel: bool = field(default=False, compare=False)  # of conda
    additional: bool = field(default=False, compare=False)  # one of `urls` is asked besides the main index


@dataclass(frozen=True)
class PythonRange:
    """A range of Python versions (PEP 440) that a file names. `required`: an installer refuses all others."""

    specifier: str
    line: int
    column: int
    required: bool = False


@dataclass(frozen=True)
class Image:
    """A container image that a file builds on or runs."""

    name: str
    line: int
    column: int


@dataclass(frozen=True)
class ScriptCommand:
    """A command of a build or install script with its arguments."""

    name: str
    arguments: tuple[str, ...]
    line: int
    column: int


@dataclass(frozen=True)
class Submodule:
    """A git submodule, or a repository that a script clones."""

    path: str
    url: str
    line: int
    column: int


@dataclass(frozen=True)
class ParsedManifest:
    """The content of one manifest file. `unread` lists lines that could not be parsed, with the reason."""

    path: str
    kind: str
    data: bytes = b""
    mentions: tuple[Mention, ...] = ()
    options: tuple[InstallOption, ...] = ()
    images: tuple[Image, ...] = ()
    commands: tuple[ScriptCommand, ...] = ()
    submodules: tuple[Submodule, ...] = ()
    pythons: tuple[PythonRange, ...] = ()
    unread: tuple[tuple[int, str], ...] = ()

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines of the file without line feeds; cached because every mention needs them."""
        return self.data.split(b"\n")


class UnreadableManifestError(ValueError):
    """A file is not of its kind or exceeds a limit. Messages start with a verb: the file name is put in front."""


@dataclass(frozen=True)
class ManifestReader:
    """Reads one kind of file. With `by_name` it needs only the path, not the bytes.

    A file that lacks one of the `required_bytes` is not parsed.
    """

    module: str
    matches: Callable[[str], bool]
    parse: Callable[[str, bytes], ParsedManifest]
    by_name: bool = False
    required_bytes: tuple[bytes, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of manifest: the last part of the module name."""
        return self.module.rsplit(".", 1)[-1]

    def read(self, path: str, data: bytes) -> ParsedManifest:
        """The content of a file; one that cannot be parsed has only `unread`."""
        try:
            return self.parse(path, data)
        except (UnreadableManifestError, TomlError) as error:
            return ParsedManifest(path, self.kind, data, unread=((1, str(error)),))


@lru_cache(maxsize=1)
def posix_path(path: str) -> PurePosixPath:
    """The path as PurePosixPath; cached because all readers test the same path in turn."""
    return PurePosixPath(path)


def has_name(*names: str) -> Callable[[str], bool]:
    """A test whether the last part of a path is one of these names."""
    return lambda path: posix_path(path).name in names


def has_suffix(*suffixes: str) -> Callable[[str], bool]:
    """A test whether the suffix of a path is one of these."""
    return lambda path: posix_path(path).suffix in suffixes


@cache
def manifest_readers() -> tuple[ManifestReader, ...]:
    """Every reader, sorted by kind, found by walking this package."""
    return tuple(module.reader for module in load_modules("rocm3d.manifest") if hasattr(module, "reader"))


def read_manifests(
    path: str, read: Callable[[str], bytes | None], is_selected: Callable[[str], bool] = lambda _: True
) -> Iterator[ParsedManifest]:
    """The manifests of a file, one of each selected kind that it matches; none if it is unreadable or binary.

    `read` is called only if the name of the file matches.
    """
    readers = [r for r in manifest_readers() if not r.by_name and is_selected(r.kind) and r.matches(path)]
    data = read(path) if readers else None
    if data is not None and b"\0" not in data:
        yield from (r.read(path, data) for r in readers if all(required in data for required in r.required_bytes))
