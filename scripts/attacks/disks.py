"""Full disks: commands with any amount of free space, from none to enough."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from attacks.cases import GPU, BrokenPromiseError, Case, copy_example, require
from attacks.commands import Ended
from attacks.mounts import BLOCK, free_bytes, mount_tmpfs, unmount, used_files
from attacks.snapshots import Snapshot, difference, snapshot

NAME = "disks"
COUNT = 100
PROMISE = "on a full disk the tree is as before or complete, or the message says that undo works, and undo does"

SIZE = 64 << 20
EXAMPLES = ("splat-trainer", "deform-op")
COMMANDS = (("apply", *GPU), ("apply", *GPU, "--safe-only"), ("port", *GPU), ("undo",))
UNDO = ("undo",)


@dataclass(frozen=True)
class Subject:
    """One command on one example: bytes and files that it adds to the disk, and the trees before and after."""

    example: str
    command: tuple[str, ...]
    bytes: int
    files: int
    before: Snapshot
    after: Snapshot


def prepare(folder: Path) -> list[Subject]:
    """Run every command once with room: what it needs is measured."""
    subjects: list[Subject] = []
    for example in EXAMPLES:
        for command in COMMANDS:
            case = Case(0, folder / str(len(subjects)), NAME)
            with _disk(case):
                subjects.append(_measure(case, example, command))
    return subjects


def total(shared: list[Subject], count: int) -> int:  # noqa: ARG001  (every attack has this signature)
    """As requested."""
    return count


def run(case: Case, shared: list[Subject]) -> None:
    """One command with too little room, and undo with room."""
    subject = shared[case.number % len(shared)]
    by_files, share = case.random.random() < 0.2, case.random.uniform(0.0, 1.05)
    data_too = case.random.random() < 0.5
    amount = (
        f"{share:.2f} of the {'files' if by_files else 'bytes'} that it adds{', also for data' if data_too else ''}"
    )
    case.label = f"{' '.join(subject.command)} on {subject.example} with room for {amount}"
    with _disk(case):
        if data_too:
            case.commands.environment["ROCM3D_DATA"] = str(case.tree.parent / "data")
        _start(case, subject.example, subject.command)
        with _filled(case, subject, share, by_files=by_files):
            ended = _run(case, subject.command)
            require(ended.problem())
            state = snapshot(case.tree)
        _check(subject, ended, state)
        case.undo_to(subject.before, f"a full disk ({subject.command[0]} exits {ended.code})")


def _measure(case: Case, example: str, command: tuple[str, ...]) -> Subject:
    before = _start(case, example, command)
    free, files = free_bytes(case.tree), used_files(case.tree)
    ended = _run(case, command)
    require(ended.problem((0, 1)))
    # An undo frees space in the end; it may need some on the way.
    needed = max(free - free_bytes(case.tree), 32 * BLOCK)
    return Subject(example, command, needed, max(used_files(case.tree) - files, 16), before, snapshot(case.tree))


def _start(case: Case, example: str, command: tuple[str, ...]) -> Snapshot:
    copy_example(example, case.tree)
    before = snapshot(case.tree)
    if command == UNDO:
        case.run("apply", case.tree, *GPU)
    return before


def _run(case: Case, command: tuple[str, ...]) -> Ended:
    return case.commands.run(command[0], case.tree, *command[1:])


def _check(subject: Subject, ended: Ended, state: Snapshot) -> None:
    """As before, complete, or a message that names undo."""
    missing = difference(subject.after, state)
    if not missing or (not difference(subject.before, state) and ended.code == 2):
        return
    if ended.code in (0, 1):
        raise BrokenPromiseError(f"exit {ended.code}, but the tree is not complete: {missing}")
    if "undo" not in ended.err:
        raise BrokenPromiseError(f"the tree is partial, and the message does not name undo: {ended.err.strip()[:300]}")


@contextlib.contextmanager
def _disk(case: Case) -> Iterator[None]:
    """The world of the case on a file system of its own."""
    world = case.tree.parent
    mount_tmpfs(world, SIZE, files=4000)
    try:
        yield
    finally:
        unmount(world)


@contextlib.contextmanager
def _filled(case: Case, subject: Subject, share: float, *, by_files: bool) -> Iterator[None]:
    """The disk has room for a share of what the command adds."""
    ballast = case.tree.parent / "ballast"
    ballast.mkdir()
    if by_files:
        limit = int(share * subject.files)
        with contextlib.suppress(OSError):
            for number in range(4000):
                (ballast / str(number)).touch()
        for number in range(limit):
            (ballast / str(number)).unlink()
    else:
        limit_bytes = int(share * subject.bytes)
        with (ballast / "bytes").open("wb") as stream:
            while (free := free_bytes(ballast)) > limit_bytes + BLOCK:
                stream.write(b"\1" * min(1 << 20, free - limit_bytes))
                stream.flush()
    try:
        yield
    finally:
        for file in ballast.iterdir():
            file.unlink()
        ballast.rmdir()
