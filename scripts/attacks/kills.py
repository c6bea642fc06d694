"""Kills of apply, port, undo and review by SIGKILL: before every change of a file, and at random times."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

from attacks.cases import GPU, BrokenPromiseError, Case, copy_example, require
from attacks.commands import Ended
from attacks.snapshots import Snapshot, difference, snapshot

NAME = "kills"
COUNT = 1000
PROMISE = "after a kill undo restores every byte and mode, and repeating the command completes it"

# The first is killed before each single change, in a git repository; all are killed at random.
EXAMPLES = ("splat-trainer", "deform-op", "cmake-lib")
COMMANDS = {
    "apply": ("apply", *GPU),
    "apply --safe-only": ("apply", *GPU, "--safe-only"),
    "port": ("port", *GPU),
    "port --safe-only": ("port", *GPU, "--safe-only"),
    "undo": ("undo",),
    "review": ("review",),
}
ON_A_PORT = ("undo", "review")
ANSWERS = {"review": "no\n" * 40}  # more than any example has edits to read
AT_RANDOM = 300  # at least so many besides those before every change
FULL = 1000


@dataclass
class Subject:
    """One command on one example: its tree before and after, its number of changes and its time."""

    example: str
    command: str
    git: bool
    code: int | None = 0
    changes: int = 0
    seconds: float = 0.0
    before: Snapshot = field(default_factory=dict)
    after: Snapshot = field(default_factory=dict)


@dataclass(frozen=True)
class Kill:
    """Before this change; None: at a random time."""

    subject: Subject
    change: int | None


@dataclass(frozen=True)
class Shared:
    """The kills before every change, shuffled, and all subjects for random ones."""

    points: list[Kill]
    subjects: list[Subject]


def prepare(folder: Path) -> Shared:
    """Run each command to its end: changes are counted, and the time is taken."""
    subjects = [Subject(example, command, git) for git in (True, False) for example in EXAMPLES for command in COMMANDS]
    for number, subject in enumerate(subjects):
        _measure(Case(number, folder / str(number), NAME), subject)
    points = [
        Kill(subject, change)
        for subject in subjects
        if subject.git and subject.example == EXAMPLES[0]
        for change in range(subject.changes)
    ]
    random.Random(NAME).shuffle(points)  # noqa: S311  (a repeatable order)
    return Shared(points, subjects)


def total(shared: Shared, count: int) -> int:
    """A full run covers every change of the first example, and some at random."""
    return max(count, len(shared.points) + AT_RANDOM) if count >= FULL else count


def run(case: Case, shared: Shared) -> None:
    """One kill, and one of the ways out of it."""
    kill = _choose(case, shared)
    subject = kill.subject
    _start(case, subject)
    killed = _kill(case, kill)
    recovery = case.random.choice((_undo, _undo, _undo_and_repeat, _repeat, _kill_undo_too))
    when = "at a random time" if kill.change is None else f"before change {kill.change} of {subject.changes}"
    case.label = f"{subject.command} on {subject.example}, {when}, then {recovery.__name__.strip('_')}"
    if not killed.is_killed:
        require(killed.problem())
    recovery(case, subject)


def _choose(case: Case, shared: Shared) -> Kill:
    if case.number % 3 and (position := case.number - case.number // 3 - 1) < len(shared.points):
        return shared.points[position]
    subject = case.random.choice(shared.subjects)
    return Kill(subject, case.random.choice((None, None, case.random.randrange(max(1, subject.changes)))))


def _measure(case: Case, subject: Subject) -> None:
    _start(case, subject)
    ended = _command(case, subject)
    require(ended.problem())
    subject.code, subject.changes, subject.seconds = ended.code, ended.changes or 0, ended.seconds
    subject.after = snapshot(case.tree)
    if ended.code == 2 or subject.changes == 0:
        raise BrokenPromiseError(f"{subject.command} on {subject.example} changes nothing: {ended.err.strip()}")
    if subject.command != "undo":
        case.undo_to(subject.before, subject.command)


def _start(case: Case, subject: Subject) -> None:
    """A new tree; before an undo or a review it is ported."""
    copy_example(subject.example, case.tree, git=subject.git)
    subject.before = subject.before or snapshot(case.tree)
    if subject.command in ON_A_PORT:
        _expect_done(case.run("apply", case.tree, *GPU))


def _command(case: Case, subject: Subject, kill_before: int | None = None) -> Ended:
    name, *options = COMMANDS[subject.command]
    watched = (case.tree, case.data)
    answers = ANSWERS.get(subject.command, "")
    return case.commands.run(name, case.tree, *options, kill_before=kill_before, watched=watched, answers=answers)


def _kill(case: Case, kill: Kill) -> Ended:
    if kill.change is not None:
        return _command(case, kill.subject, kill.change)
    name, *options = COMMANDS[kill.subject.command]
    running = case.commands.start(name, case.tree, *options, answers=ANSWERS.get(kill.subject.command, ""))
    return running.kill_after(case.random.uniform(0.0, kill.subject.seconds))


def _undo(case: Case, subject: Subject) -> None:
    case.undo_to(subject.before, "the kill")


def _undo_and_repeat(case: Case, subject: Subject) -> None:
    _undo(case, subject)
    _expect_done(case.run("apply", case.tree, *GPU))
    case.undo_to(subject.before, "apply, undo, and apply")


def _repeat(case: Case, subject: Subject) -> None:
    """The same command again completes it; a killed undo may also be followed by apply."""
    if subject.command == "undo":
        _expect_done(case.run("apply", case.tree, *GPU))
    else:
        name, *options = COMMANDS[subject.command]
        again = case.run(name, case.tree, *options, answers=ANSWERS.get(subject.command, ""))
        if again.code != subject.code:
            raise BrokenPromiseError(f"repeated, it exits {again.code}: {again.err.strip()[-300:]}")
        if problem := difference(subject.after, snapshot(case.tree)):
            raise BrokenPromiseError(f"repeated, the tree is another than without the kill: {problem}")
    case.undo_to(subject.before, "the repeated command")


def _kill_undo_too(case: Case, subject: Subject) -> None:
    running = case.commands.start("undo", case.tree)
    running.kill_after(case.random.uniform(0.0, 0.5))
    _undo(case, subject)


def _expect_done(ended: Ended) -> None:
    if ended.code not in (0, 1):
        raise BrokenPromiseError(f"{ended.arguments[0]} exits {ended.code}: {ended.err.strip()[-300:]}")
