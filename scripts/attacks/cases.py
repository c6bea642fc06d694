"""What attacks share: a case with its own folder and random numbers, example repositories, and the final undo."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from attacks.commands import Commands, Ended
from attacks.snapshots import Snapshot, difference, snapshot

ROOT = Path(__file__).resolve().parents[2]
GPU = ("--gpu", "gfx942")
GIT_SECONDS = 30
NOTHING_TO_UNDO = "nothing to undo"


class BrokenPromiseError(Exception):
    """A promise that did not hold; the text is the report."""


class NotRunError(Exception):
    """This machine cannot run the case."""


@dataclass(frozen=True)
class Result:
    """The end of one case."""

    attack: str
    number: int
    label: str
    broken: str = ""
    not_run: str = ""
    seconds: float = 0.0


@dataclass
class Case:
    """One case: its number, a new folder, and random numbers that depend only on `seed`, which names the case."""

    number: int
    folder: Path
    seed: str
    label: str = ""
    random: random.Random = field(init=False)
    commands: Commands = field(init=False)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)  # noqa: S311  (a repeatable choice, no secret)
        self.commands = Commands(self.folder / "commands", user_environment(self.folder / "user"))

    @property
    def tree(self) -> Path:
        """The attacked repository."""
        return self.folder / "world" / "tree"

    @property
    def data(self) -> Path:
        """Where rocm3d keeps what belongs to the user."""
        return self.folder / "user" / "data"

    def run(self, *arguments: object, **options: Any) -> Ended:
        """Run a command; its exit code and messages must be of the documented form."""
        ended = self.commands.run(*arguments, **options)
        require("" if ended.is_killed else ended.problem())
        return ended

    def undo_to(self, before: Snapshot, after: str) -> None:
        """Undo, which must give every byte and mode of `before`."""
        restore(self.commands, self.tree, before, after)


class Attack(Protocol):
    """What a module of this package offers."""

    NAME: str
    COUNT: int
    PROMISE: str

    def prepare(self, folder: Path) -> Any:
        """What all cases share, measured once."""

    def total(self, shared: Any, count: int) -> int:
        """The number of cases if `count` are requested."""

    def run(self, case: Case, shared: Any) -> None:
        """One case; sets its label. Raises BrokenPromiseError or NotRunError."""


def user_environment(home: Path) -> dict[str, str]:
    """The environment of a user with an empty home, and nothing of whoever runs the attacks."""
    home.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "LANG": "C.UTF-8", "COLUMNS": "200",
        "ROCM3D_CACHE": str(home / "cache"), "ROCM3D_DATA": str(home / "data"), "GIT_CONFIG_NOSYSTEM": "1",
    }  # fmt: skip


def require(problem: str) -> None:
    """Raise BrokenPromiseError unless the text is empty."""
    if problem:
        raise BrokenPromiseError(problem)


def restore(commands: Commands, tree: Path, before: Snapshot, after: str) -> None:
    """Undo, which must give every byte and mode of `before`. It may say that there is nothing to undo."""
    ended = commands.run("undo", tree)
    if problem := ended.problem():
        raise BrokenPromiseError(f"after {after}: {problem}")
    if ended.code != 0 and NOTHING_TO_UNDO not in ended.err:
        raise BrokenPromiseError(f"undo after {after} refuses: {ended.err.strip()[:400]}")
    if problem := difference(before, snapshot(tree)):
        raise BrokenPromiseError(f"undo after {after} (exit {ended.code}): {problem}")


def copy_example(name: str, tree: Path, *, git: bool = True) -> None:
    """A copy of an example, as one commit of a new git repository or without git."""
    shutil.copytree(ROOT / "examples" / name, tree, ignore=shutil.ignore_patterns(".rocm3d"))
    if git:
        commit_all(tree)


def commit_all(tree: Path) -> None:
    """Commit everything below a folder, in a new repository if it is none."""
    if not (tree / ".git").exists():
        run_git(tree, "init", "--quiet", "--initial-branch=main")
    run_git(tree, "add", "--all", "--force")
    run_git(tree, "commit", "--quiet", "--allow-empty", "--message=start")


def run_git(tree: Path, *words: object) -> str:
    """Git without settings of the user; identity and dates are fixed, so that equal trees have equal commits."""
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", "-c", "gc.auto=0")
    dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2026-11-15T12:00:00Z")
    environment = {**os.environ, **dates, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    command = ["git", "-C", str(tree), *settings, *map(str, words)]
    ended = subprocess.run(
        command, capture_output=True, check=True, env=environment, text=True, timeout=GIT_SECONDS
    )  # a hostile tree may have a pipe that git waits for
    return ended.stdout


def run_case(attack: Attack, case: Case, shared: Any) -> Result:
    """Run one case. Its folder stays if a promise did not hold."""
    started, broken, not_run = time.monotonic(), "", ""
    try:
        attack.run(case, shared)
    except BrokenPromiseError as reason:
        broken = str(reason)
    except NotRunError as reason:
        not_run = str(reason)
    except Exception as error:  # noqa: BLE001  (one case must not end the others; it does not pass either)
        frame = traceback.extract_tb(error.__traceback__)[-1]
        broken = f"the case itself failed: {error!r} at {Path(frame.filename).name}:{frame.lineno}"
    seconds = round(time.monotonic() - started, 2)
    return Result(attack.NAME, case.number, case.label, broken, not_run, seconds)
