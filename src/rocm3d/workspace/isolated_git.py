"""Runs git on the data of a repository, with a configuration of our own: what the repository configures never starts.

git reads an empty repository in a temporary folder, whose references, objects and index are those of the real one.
Only settings that decide what a work tree looks like are copied to it, as values (docs/decisions/0023).
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rocm3d.model.errors import UserError
from rocm3d.workspace.process import Finished, run, scratch_folder

# Settings that decide which files are the same as committed, or ignored. None of them names a program.
_VALUES = frozenset(
    f"core.{name}"
    for name in (
        "attributesfile", "autocrlf", "checkstat", "eol", "excludesfile", "filemode", "ignorecase",
        "precomposeunicode", "sparsecheckout", "sparsecheckoutcone", "symlinks", "trustctime", "usereplacerefs",
    )
) | {"index.sparse", "sparse.expectfilesoutsideofpatterns"}  # fmt: skip
_READ = (
    r"^(core|index|sparse|extensions)\.[a-z]+$|^diff\.ignoresubmodules$|^remote\.origin\.url$|"
    r"^filter\..*\.(clean|process|required)$|^submodule\..*\.(ignore|url)$"
)
_FILTER = re.compile(r"filter\.(?P<name>.*)\.(clean|process|required)", re.DOTALL)
# With these a person chooses their own configuration and how far git searches. All other GIT_ variables are unset: they
# name another repository, or programs.
_USER_VARIABLES = re.compile(
    r"GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+|PARAMETERS)|EXEC_PATH|CEILING_DIRECTORIES|"
    r"DISCOVERY_ACROSS_FILESYSTEM|TEST_ASSUME_DIFFERENT_OWNER)"
)
_NOTHING_STARTS = {
    "GIT_ALLOW_PROTOCOL": "",  # no transport at all
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",  # refusals are recognised by their text
}
_OPTIONS = (
    "--no-pager",
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.untrackedCache=false"),
    *("-c", "safe.bareRepository=explicit", "-c", "protocol.allow=never", "-c", "submodule.recurse=false"),
)
_WITHOUT_CONFIGURATION = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
_REMEDY = re.compile(r"git config --global --add safe\.directory .+")
_MAX_OUTPUT = 256 * 1024 * 1024
_MAX_SMALL_FILE = 16 * 1024 * 1024
_READ_AT_START = (
    "HEAD", "commondir", "config", "config.worktree", "index", "info/attributes", "info/exclude", "info/grafts",
    "info/sparse-checkout", "objects/info/alternates", "packed-refs", "shallow",
)  # fmt: skip


@dataclass(frozen=True)
class IsolatedGit:
    """An opened repository. `folder` is where commands run, inside `work_tree`.

    `settings` is the configuration of user and repository, the last value of each key; a key without a value is None.
    """

    folder: Path
    work_tree: Path
    settings: Mapping[str, str | None]
    _environment: Mapping[str, str]

    @property
    def prefix(self) -> str:
        """The path of `folder` in the work tree, with a slash at its end; empty at the top."""
        relative = self.folder.relative_to(self.work_tree).as_posix()
        return "" if relative == "." else f"{relative}/"

    @property
    def filters(self) -> frozenset[str]:
        """Names of the filters that user or repository configured. They do not run here."""
        return frozenset(match["name"] for match in map(_FILTER.fullmatch, self.settings) if match)

    def run(self, *arguments: str, from_top: bool = False, keep_bytes: int = _MAX_OUTPUT) -> Finished:
        """Run a git command that reads."""
        folder = self.work_tree if from_top else self.folder
        command = ["git", *_OPTIONS, *self._values(), "-C", str(folder), *arguments]
        return run(command, env=self._environment, keep_bytes=keep_bytes)

    def output(self, *arguments: str, from_top: bool = False) -> str:
        """The complete output of a command. Raises UserError if git fails."""
        finished = self.run(*arguments, from_top=from_top)
        if finished.code != 0 or finished.capped:
            reason = "its output is too long" if finished.code == 0 else failure_reason(finished)
            raise UserError(
                f"git {arguments[0]} failed in {self.folder}: {reason}",
                hint=f"run `git {arguments[0]}` there, or use --into DIR",
            )
        return os.fsdecode(finished.stdout)

    def _values(self) -> list[str]:
        values = {**_user_pattern_files(), **{key: self.settings[key] for key in _VALUES if key in self.settings}}
        for key in ("core.attributesfile", "core.excludesfile"):
            values[key] = os.path.expanduser(values[key] or "")  # noqa: PTH111  (a Path would lose the empty value)
        return [part for key, value in values.items() for part in ("-c", key if value is None else f"{key}={value}")]


@contextlib.contextmanager
def open_isolated(folder: Path, *, owner_is_checked: bool = False) -> Iterator[IsolatedGit | None]:
    """Open the repository around a folder; None if there is none.

    Raises UserError if git refuses it, as for another owner. With `owner_is_checked`, `folder` is the top of a
    submodule in a repository that git accepts: git does not check its owner again.
    """
    folder = folder.resolve()
    _refuse_pipes(folder)
    explicit = {"GIT_DIR": str(folder / ".git")} if owner_is_checked else {}
    git_folder = _git_folder(folder, explicit)
    if git_folder is None:
        yield None
        return
    settings = _settings(folder, explicit)
    work_tree = folder if owner_is_checked else _work_tree(folder, git_folder)
    with scratch_folder() as scratch:
        yield IsolatedGit(folder, work_tree, settings, _shadow(scratch, git_folder, work_tree, settings))


def _refuse_pipes(folder: Path) -> None:
    """Raises UserError if a file in the .git of a folder is a pipe or a device: git would wait for it."""
    for name in _READ_AT_START:
        path = folder / ".git" / name
        with contextlib.suppress(OSError):
            if not stat.S_ISREG(path.stat().st_mode):
                raise UserError(f"git cannot read {path}: it is not a file", hint="remove it")


def _git_folder(folder: Path, explicit: Mapping[str, str]) -> Path | None:
    """The folder with the data of git, found by git itself: it knows its formats and `safe.directory`."""
    finished = _in_repository(folder, explicit, "rev-parse", "--absolute-git-dir")
    if finished.code == 0:
        return Path(os.fsdecode(finished.stdout.removesuffix(b"\n"))).resolve()
    message = finished.stderr.decode("utf-8", "replace")
    if "not a git repository" in message and not explicit:
        return None
    remedy = _REMEDY.search(message)
    if remedy:
        raise UserError(
            f"git does not read {folder}: it belongs to another user", hint=f"if you trust it: {remedy[0].strip()}"
        )
    raise UserError(
        f"git does not read {folder}: {failure_reason(finished)}", hint="run `git status` there, or use --into DIR"
    )


def _settings(folder: Path, explicit: Mapping[str, str]) -> dict[str, str | None]:
    finished = _in_repository(folder, explicit, "config", "--includes", "-z", "--get-regexp", _READ)
    if finished.code not in (0, 1) or finished.capped:
        raise UserError(
            f"git cannot read the configuration of {folder}: {failure_reason(finished)}",
            hint="run `git config --list` there",
        )
    entries = (entry.partition("\n") for entry in os.fsdecode(finished.stdout).split("\0") if entry)
    return {key: value if separator else None for key, separator, value in entries}


def _in_repository(folder: Path, explicit: Mapping[str, str], *arguments: str) -> Finished:
    """The only two commands that see the configuration of a repository: both print values and start nothing."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or _USER_VARIABLES.fullmatch(name)
    }
    command = ["git", *_OPTIONS, "-C", str(folder), *arguments]
    return run(command, env={**environment, **_NOTHING_STARTS, **explicit}, keep_bytes=_MAX_SMALL_FILE)


def _work_tree(folder: Path, git_folder: Path) -> Path:
    """The folder whose `.git` it is. core.worktree is not followed: it could name any folder of the user."""
    for candidate in (folder, *folder.parents):
        if _dot_git_target(candidate) == git_folder:
            return candidate
    raise UserError(f"{folder} is inside the data of git, not in a work tree", hint="pass the folder of a checkout")


def _dot_git_target(folder: Path) -> Path | None:
    dot_git = folder / ".git"
    if dot_git.is_dir():
        return dot_git.resolve()
    content = _small_file(dot_git) or b""
    if not content.startswith(b"gitdir: "):
        return None
    return (folder / os.fsdecode(content.removeprefix(b"gitdir: ").rstrip(b"\r\n"))).resolve()


def _shadow(scratch: Path, git_folder: Path, work_tree: Path, settings: Mapping[str, str | None]) -> dict[str, str]:
    """Make the repository that git reads instead; returns the environment that makes git read it."""
    common_folder = _common_folder(git_folder)
    shared = scratch if common_folder == git_folder else scratch / "common"
    shared.mkdir(exist_ok=True)
    head = git_folder / "HEAD"
    is_link = head.is_symlink()  # as git made it before version 1.5.1
    (scratch / "HEAD").write_bytes(b"ref: " + os.fsencode(head.readlink()) if is_link else _small_file(head) or b"")
    (shared / "config").write_text(_configuration(settings), encoding="utf-8")
    _link(common_folder, shared, "info", "refs", "packed-refs", "reftable")
    if shared != scratch:
        # git finds branches by this file, not by GIT_COMMON_DIR.
        (scratch / "commondir").write_text("common\n", encoding="ascii")
        _link(git_folder, scratch, "info", "refs", "reftable")
    _link(git_folder, scratch, *(path.name for path in git_folder.glob("sharedindex.*")))
    index = git_folder / "index"
    if os.path.lexists(index) and not stat.S_ISREG(index.lstat().st_mode):
        raise UserError(f"{index} is not a regular file", hint="run `git status` there, or use --into DIR")
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name == "GIT_EXEC_PATH"
    }
    return {
        **inherited,
        **_NOTHING_STARTS,
        "GIT_DIR": str(scratch),
        "GIT_COMMON_DIR": str(shared),
        "GIT_WORK_TREE": str(work_tree),
        "GIT_INDEX_FILE": str(index),
        "GIT_OBJECT_DIRECTORY": str(common_folder / "objects"),
        **_WITHOUT_CONFIGURATION,
        # For git before 2.32, which does not know GIT_CONFIG_GLOBAL.
        "HOME": str(scratch / "no-home"),
        "XDG_CONFIG_HOME": str(scratch / "no-home"),
    }


def _common_folder(git_folder: Path) -> Path:
    """Where a linked work tree shares references and objects with the others."""
    content = _small_file(git_folder / "commondir")
    return (git_folder / os.fsdecode(content.rstrip(b"\r\n"))).resolve() if content else git_folder


def _configuration(settings: Mapping[str, str | None]) -> str:
    lines = ["[core]", "bare = false"]
    extensions = [
        f"{key} = {value}"
        for key, value in (("objectformat", "sha256"), ("refstorage", "reftable"))
        if (settings.get(f"extensions.{key}") or "").lower() == value
    ]
    lines.append(f"repositoryformatversion = {1 if extensions else 0}")
    return "\n".join([*lines, *(["[extensions]", *extensions] if extensions else []), ""])


def _user_pattern_files() -> dict[str, str | None]:
    """The files that git reads if the settings name no others; it cannot find them without the home folder."""
    folder = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return {"core.attributesfile": f"{folder}/git/attributes", "core.excludesfile": f"{folder}/git/ignore"}


def _link(source: Path, target: Path, *names: str) -> None:
    for name in names:
        if (source / name).exists():
            (target / name).symlink_to(source / name)


def _small_file(path: Path) -> bytes | None:
    """The bytes of a regular file; None for anything else. Does not wait for the writer of a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read(_MAX_SMALL_FILE) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None


def failure_reason(finished: Finished) -> str:
    """The first line of what git printed, safe to show."""
    if finished.timed_out:
        return "git did not end in time"
    line = next(iter(finished.stderr.decode("utf-8", "replace").splitlines()), "") or f"exit code {finished.code}"
    return "".join(letter if letter.isprintable() else "?" for letter in line.removeprefix("fatal: "))[:200]
