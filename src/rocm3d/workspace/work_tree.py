"""What is uncommitted in a work tree and its submodules. No filter runs, so the state of some files is unknown."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from rocm3d.model.errors import UserError
from rocm3d.workspace.isolated_git import IsolatedGit, open_isolated
from rocm3d.workspace.lfs_pointer import MAX_POINTER_BYTES, LfsPointer

_GITLINK = "160000"
_PATHS_PER_COMMAND = 200
_MAX_SUBMODULE_DEPTH = 8
_READ_BY_GIT = (".gitignore", ".gitattributes", ".gitmodules")
_IGNORE_KEY = re.compile(r"submodule\.(?P<name>.*)\.ignore", re.DOTALL)


@dataclass(frozen=True)
class WorkTreeState:
    """Paths relative to the folder that was read.

    `changed` includes untracked files. `unknown` are files that only a filter could compare with the commit.
    """

    changed: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class StatusEntry:
    """An entry of `git status --porcelain=v2`; index and work tree modes are empty for an untracked file."""

    path: str
    staged: str
    unstaged: str
    index_mode: str = ""
    work_tree_mode: str = ""
    index_object: str = ""

    @property
    def is_content_change_only(self) -> bool:
        """Whether only the content differs from the index, which is the case for each file with a filter."""
        return self.staged == "." and self.unstaged == "M" and self.index_mode == self.work_tree_mode


def work_tree_state(git: IsolatedGit, *, untracked: bool = True, depth: int = 0) -> WorkTreeState:
    """The state of `git.folder`, as `git status` shows it; after `refuse_pipes`. Raises UserError if git fails."""
    # Of a submodule, git compares only the commit. For more, it would start git with the submodule's configuration.
    arguments = ("--no-renames", "--ignore-submodules=dirty", f"--untracked-files={'normal' if untracked else 'no'}")
    entries = list(parse_status(git.output("status", "--porcelain=v2", "-z", *arguments, "--", ".")))
    uncertain = {entry.path for entry in _filtered(git, entries) if not _is_lfs_content(git, entry)}
    same = {entry.path for entry in _filtered(git, entries)} - uncertain
    submodules = _Submodules(git, untracked=untracked, depth=depth)
    same |= {entry.path for entry in entries if entry.staged == "." and submodules.ignore_mode(entry.path) == "all"}
    changed = dict.fromkeys(entry.path for entry in entries if entry.path not in same | uncertain)
    for path in submodules.paths:
        state = submodules.state(path) if path not in changed else None
        if state is not None and state.changed:
            changed[path] = None
        elif state is not None and state.unknown:
            uncertain.add(path)
    return WorkTreeState(_relative(git, changed), _relative(git, sorted(uncertain)))


def refuse_pipes(git: IsolatedGit) -> None:
    """Raises UserError if a file that git opens is a pipe or a device: git would wait for it."""
    folders = (str(folder) for folder in (git.folder, *git.folder.parents) if folder.is_relative_to(git.work_tree))
    for folder in chain(folders, _folders_below(str(git.folder))):
        for name in _READ_BY_GIT:
            path = os.path.join(folder, name)  # noqa: PTH118  (a Path for each folder of a tree would be slow)
            with contextlib.suppress(OSError):
                if stat.S_IFMT(os.stat(path).st_mode) not in (stat.S_IFREG, stat.S_IFDIR):  # noqa: PTH116
                    raise UserError(f"git cannot read {path}: it is not a file", hint="remove it, or use --into DIR")


def _folders_below(folder: str) -> Iterator[str]:
    for parent, folders, _ in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        yield parent


def parse_status(text: str) -> Iterator[StatusEntry]:
    """Entries of `git status --porcelain=v2 -z`. A rename is followed by the old name, and gives two entries."""
    lines = iter(text.split("\0"))
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "?":
            yield StatusEntry(rest, "?", "?")
        elif kind == "1":
            states, _, _, index_mode, mode, _, index_object, path = rest.split(" ", 7)
            yield StatusEntry(path, states[0], states[1], index_mode, mode, index_object)
        elif kind == "2":
            states, path = rest[:2], rest.split(" ", 8)[8]
            yield StatusEntry(path, states[0], states[1])
            yield StatusEntry(next(lines, ""), states[0], states[1])
        elif kind == "u":
            yield StatusEntry(rest.split(" ", 9)[9], rest[0], rest[1])


def _filtered(git: IsolatedGit, entries: Sequence[StatusEntry]) -> list[StatusEntry]:
    """Entries that git could call changed only because their filter did not run."""
    candidates = {entry.path: entry for entry in entries if entry.is_content_change_only and git.filters}
    names = list(candidates)
    with_filter = []
    for start in range(0, len(names), _PATHS_PER_COMMAND):
        part = names[start : start + _PATHS_PER_COMMAND]
        fields = git.output("check-attr", "-z", "filter", "--", *part, from_top=True).split("\0")
        with_filter += [path for path, value in zip(fields[::3], fields[2::3], strict=False) if value in git.filters]
    return [candidates[path] for path in with_filter]


def _is_lfs_content(git: IsolatedGit, entry: StatusEntry) -> bool:
    """Whether the index has a Git LFS pointer to the content of the file."""
    size = git.run("cat-file", "-s", entry.index_object).stdout.strip()
    if not size.isdigit() or int(size) > MAX_POINTER_BYTES:
        return False
    pointer = LfsPointer.parse(git.run("cat-file", "blob", entry.index_object).stdout)
    return pointer is not None and pointer.is_content_of(git.work_tree / entry.path)


class _Submodules:
    """The submodules of a work tree, each read like the tree itself."""

    def __init__(self, git: IsolatedGit, *, untracked: bool, depth: int) -> None:
        self._git, self._untracked, self._depth = git, untracked, depth
        entries = git.output("ls-files", "--stage", "--full-name", "-z", "--", ".").split("\0")
        self.paths = [entry.partition("\t")[2] for entry in entries if entry.startswith(_GITLINK)]
        self._modes = _ignore_modes(git) if self.paths else {}

    def ignore_mode(self, path: str) -> str:
        """What git ignores in a submodule: all, dirty, untracked or none; empty for a path that is none."""
        return (
            self._modes.get(path, self._git.settings.get("diff.ignoresubmodules") or "none")
            if path in self.paths
            else ""
        )

    def state(self, path: str) -> WorkTreeState | None:
        """None if the submodule is not checked out, or what is in it is ignored."""
        folder, mode = self._git.work_tree / path, self.ignore_mode(path)
        # git does not look behind links.
        if mode in ("all", "dirty") or not os.path.lexists(folder / ".git") or folder.resolve() != folder:
            return None
        if self._depth == _MAX_SUBMODULE_DEPTH:
            return WorkTreeState((), (path,))
        with open_isolated(folder, owner_is_checked=True) as inner:
            if inner is None:
                return None
            refuse_pipes(inner)
            return work_tree_state(inner, untracked=self._untracked and mode != "untracked", depth=self._depth + 1)


def _ignore_modes(git: IsolatedGit) -> dict[str, str]:
    """By path of a submodule: `ignore` of the configuration, else of .gitmodules."""
    by_path: dict[str, str] = {}
    values = _gitmodules(git)
    configured = {match["name"]: git.settings[key] or "" for key, match in _ignore_keys(git.settings)}
    for key, path in values.items():
        if key.startswith("submodule.") and key.endswith(".path") and path:
            name = key.removeprefix("submodule.").removesuffix(".path")
            mode = configured.get(name) or values.get(f"submodule.{name}.ignore")
            if mode:
                by_path[path] = mode
    return by_path


def _ignore_keys(settings: Mapping[str, str | None]) -> Iterable[tuple[str, re.Match[str]]]:
    return ((key, match) for key in settings if (match := _IGNORE_KEY.fullmatch(key)))


def _gitmodules(git: IsolatedGit) -> dict[str, str]:
    """Settings of .gitmodules, else of the one in the index; empty if git cannot read it."""
    path = git.work_tree / ".gitmodules"
    source = ("--file", str(path)) if path.is_file() and not path.is_symlink() else ("--blob", ":.gitmodules")
    finished = git.run("config", *source, "--no-includes", "-z", "--get-regexp", r"^submodule\..*\.(path|ignore)$")
    entries = (entry.partition("\n") for entry in os.fsdecode(finished.stdout).split("\0") if entry)
    return {key: value for key, _, value in entries}


def _relative(git: IsolatedGit, paths: Iterable[str]) -> tuple[str, ...]:
    """Without the prefix of the folder, and with bytes that are not UTF-8 replaced."""
    return tuple(os.fsencode(path.removeprefix(git.prefix)).decode("utf-8", "replace") for path in paths)
