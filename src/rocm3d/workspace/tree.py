"""Reads a repository, within limits: never writes, follows no symlink, executes nothing.

Digests of a file, and of the source code of a repository, which ignores results and other files.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from rocm3d.model.errors import UserError
from rocm3d.model.text import replace_surrogates
from rocm3d.workspace.code_files import holds_code, is_code

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rocm3d.model.inventory import SkippedFile

# Folders without source code of the repository: the state of tools, and what package managers installed.
_STATE_FOLDERS = frozenset({".git", ".hg", ".svn", ".rocm3d"})
IGNORED_FOLDERS = _STATE_FOLDERS | {"__pycache__", "node_modules", ".venv", "venv", ".tox"}
_MAX_FILES = 50_000
# Folders that hold the state of git and of rocm3d. A path into one of them is never written.
_RESERVED_NAMES = {
    ".git": "it belongs to git",
    "git~1": "it belongs to git",  # the short name of .git on file systems of Windows
    ".rocm3d": "it belongs to rocm3d",
}
# Some file systems ignore these characters in names, so that `.g\u200cit` is .git.
_IGNORED_IN_NAMES = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


SkippedKind = Literal["file", "folder", "unknown", "duplicate"]
"""What a skipped path is: a file, a folder, a link to nothing, or a second name of what is read elsewhere."""


@dataclass(frozen=True)
class TreeLimits:
    """Limits for reading a tree. Files beyond them are reported as skipped."""

    file_bytes: int = 4 * 1024 * 1024
    files: int = 200_000
    depth: int = 64


@dataclass
class Tree:
    """The files of a repository. The walk happens once, on first use; `skipped` is complete after that.

    `without` lists top-level folders to omit. `overlay` replaces the content of some paths; None hides a path.
    """

    root: Path
    limits: TreeLimits = field(default_factory=TreeLimits)
    excluded_folders: frozenset[str] = frozenset()
    overlay: Mapping[str, bytes | None] = field(default_factory=dict)
    _sizes: dict[str, int] | None = None
    _skipped: dict[tuple[str, str, SkippedKind], None] = field(default_factory=dict)  # each once, in order

    @classmethod
    def open(
        cls,
        path: Path,
        limits: TreeLimits | None = None,
        excluded_folders: frozenset[str] = frozenset(),
        overlay: Mapping[str, bytes | None] | None = None,
    ) -> Tree:
        """The tree at a path. Raises UserError if it is not a folder."""
        try:
            exists = path.exists()
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}", hint="pass the folder of a repository") from error
        if not exists:
            raise UserError(f"{path} does not exist", hint="pass the folder of a repository")
        if not path.is_dir():
            raise UserError(f"{path} is not a folder", hint="pass the folder of a repository, not one of its files")
        return cls(path.resolve(), limits or TreeLimits(), excluded_folders, overlay or {})

    @property
    def skipped(self) -> list[SkippedFile]:
        """Files that were not read, with the reason."""
        from rocm3d.model.inventory import SkippedFile

        return [SkippedFile(path=path, reason=reason) for path, reason, _ in self._skipped]

    @property
    def skip_reasons(self) -> list[tuple[str, str, SkippedKind]]:
        """The same as path, reason and kind, without importing the model."""
        return list(self._skipped)

    @property
    def name(self) -> str:
        """The name of the root folder."""
        return self.root.name or "repository"

    def paths(self) -> list[str]:
        """Relative POSIX paths of all regular files, sorted."""
        return sorted(self._file_sizes())

    def has_path(self, is_searched: Callable[[str], bool]) -> bool:
        """Whether some file has such a path. Ends the walk there, so `skipped` is complete only if there is none."""
        return any(is_searched(path) for path, _ in self._walk(str(self.root), "", 0))

    def size(self, path: str) -> int:
        """Size of a file in bytes at the time of the walk."""
        return self._file_sizes()[path]

    def __contains__(self, path: str) -> bool:
        return path in self._file_sizes()

    def read(self, path: str) -> bytes | None:
        """The bytes of a file; None with an entry in `skipped` if it is too large or unreadable."""
        if path in self.overlay:
            return self.overlay[path]
        if self.size(path) > self.limits.file_bytes:
            limit = self.limits.file_bytes // (1024 * 1024)
            self._skip(path, f"is {self.size(path) / 1e6:.1f} MB, above the limit of {limit} MiB")
            return None
        try:
            return read_regular(self.root, path, self.limits.file_bytes)
        except OSError as error:
            self._skip(path, f"cannot be read: {error.strerror}")
            return None

    def peek(self, path: str) -> bytes | None:
        """The bytes of one file without a walk; None if it is missing, not a regular file, or too large."""
        if path in self.overlay:
            return self.overlay[path]
        try:
            status = (self.root / path).lstat()
            is_readable = stat.S_ISREG(status.st_mode) and status.st_size <= self.limits.file_bytes
            return read_regular(self.root, path, self.limits.file_bytes) if is_readable else None
        except OSError:
            return None

    def _file_sizes(self) -> dict[str, int]:
        if self._sizes is None:
            self._sizes = {}
            for path, size in self._walk(str(self.root), "", 0):
                if len(self._sizes) >= self.limits.files:
                    self._skip(".", f"has more than {self.limits.files} files; the others were not read", "folder")
                    break
                self._sizes[path] = size
            for path, data in self.overlay.items():
                self._sizes.pop(path, None)
                if data is not None:
                    self._sizes[path] = len(data)
        return self._sizes

    def _walk(self, folder: str, prefix: str, depth: int) -> Iterator[tuple[str, int]]:
        # Strings are faster than Path: a large tree has tens of thousands of names.
        if depth > self.limits.depth:
            self._skip(prefix[:-1], f"is deeper than {self.limits.depth} folders", "folder")
            return
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            self._skip(prefix[:-1] or ".", f"cannot be listed: {error.strerror}", "folder")
            return
        for entry in entries:
            path = prefix + entry.name
            if entry.is_symlink():
                self._skip(path, *self._link_reason(Path(entry.path)))
            elif entry.is_dir(follow_symlinks=False):
                if entry.name in IGNORED_FOLDERS:
                    self._report_ignored(entry, path)
                elif not (depth == 0 and entry.name in self.excluded_folders):
                    yield from self._walk(entry.path, f"{path}/", depth + 1)
            else:
                yield from self._regular_file(entry, path)

    def _regular_file(self, entry: os.DirEntry[str], path: str) -> Iterator[tuple[str, int]]:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self._skip(path, f"cannot be read: {error.strerror}")
            return
        if not stat.S_ISREG(status.st_mode):
            self._skip(path, "is not a regular file")
        elif replace_surrogates(path) != path:
            self._skip(path, "has a name that is not UTF-8")
        else:
            yield path, status.st_size

    def _report_ignored(self, entry: os.DirEntry[str], path: str) -> None:
        """A folder that is ignored for its name is reported if it has code that no package manager installed."""
        if entry.name not in _STATE_FOLDERS and holds_code(entry.path):
            self._skip(path, f"has source files, but folders named {entry.name} are not scanned", "folder")

    def _link_reason(self, link: Path) -> tuple[str, SkippedKind]:
        try:
            target = link.resolve(strict=True)
            is_folder = target.is_dir()
        except (OSError, RuntimeError):
            return "is a broken symlink", "unknown"
        kind: SkippedKind = "folder" if is_folder else "file"
        if not target.is_relative_to(self.root):
            return "is a symlink to a path outside the repository", kind
        if not IGNORED_FOLDERS.isdisjoint(target.relative_to(self.root).parts):
            return "is a symlink to a path that is not scanned", kind
        is_renamed = not is_folder and is_code(link.name) and not is_code(target.name)
        return "is a symlink; its target is read instead", kind if is_renamed else "duplicate"

    def _skip(self, path: str, reason: str, kind: SkippedKind = "file") -> None:
        self._skipped[replace_surrogates(path), reason, kind] = None


def path_parts(path: str) -> tuple[str, ...]:
    """The parts of a path below a tree. Raises UserError if it leads out of the tree, into .git, or into .rocm3d."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise UserError(f"refusing to use {path!r}: it is outside the repository")
    for part in parts:
        name = _IGNORED_IN_NAMES.sub("", part).rstrip(". ").casefold()
        if name in _RESERVED_NAMES:
            raise UserError(f"refusing to use {path!r}: {_RESERVED_NAMES[name]}")
    return parts


@contextlib.contextmanager
def open_folder(root: Path, parts: Sequence[str], *, create: bool = False) -> Iterator[int]:
    """A descriptor of a folder below `root`. No part may be a link, also if another process replaces one meanwhile."""
    descriptor = os.open(root, _FOLDER_FLAGS)
    try:
        for part in parts:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=descriptor)
            child = os.open(part, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = child
        yield descriptor
    finally:
        os.close(descriptor)


def read_regular(root: Path, path: str, max_bytes: int) -> bytes:
    """The first bytes of a regular file below `root`. Raises OSError for anything else; follows no link."""
    *folders, name = path.split("/")
    with open_folder(root, folders) as parent:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=parent)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return stream.read(max_bytes)


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
    if any(path == "." for path, *_ in tree.skip_reasons):
        return ""
    for path in paths:
        # Results, images and configuration that a program writes do not count.
        if is_code(path.rpartition("/")[2]) and path not in excluded:
            data = tree.read(path)
            content = f"{tree.size(path)} bytes" if data is None else hashlib.sha256(data).hexdigest()
            digest.update(f"{path!r} {content}\n".encode())
    return digest.hexdigest()
