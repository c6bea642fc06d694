"""Two commands at once on one tree."""

from __future__ import annotations

import time
from pathlib import Path

from attacks.cases import GPU, BrokenPromiseError, Case, copy_example, require
from attacks.commands import Ended
from attacks.snapshots import snapshot

NAME = "pairs"
COUNT = 200
PROMISE = "after two commands at once on one tree undo restores every byte and mode; each ends with one clear line"

EXAMPLES = ("splat-trainer", "deform-op")
APPLY, SAFE, UNDO = ("apply", *GPU), ("apply", *GPU, "--safe-only"), ("undo",)
PORT, PORT_SAFE = ("port", *GPU), ("port", *GPU, "--safe-only")
PAIRS = [
    (APPLY, APPLY), (APPLY, SAFE), (APPLY, PORT), (SAFE, PORT), (PORT, PORT), (PORT, PORT_SAFE), (APPLY, UNDO),
    (SAFE, UNDO), (PORT, UNDO), (UNDO, UNDO),
]  # fmt: skip


def prepare(folder: Path) -> float:
    """The time of one apply: the second command starts at a random moment of the first."""
    case = Case(0, folder, NAME)
    copy_example(EXAMPLES[0], case.tree)
    return case.run("apply", case.tree, *GPU).seconds


def total(shared: float, count: int) -> int:  # noqa: ARG001  (every attack has this signature)
    """As requested."""
    return count


def run(case: Case, shared: float) -> None:
    """One pair, and the undo after it."""
    pair = PAIRS[case.number % len(PAIRS)]
    first, second = case.random.sample(pair, 2)
    example, delay = case.random.choice(EXAMPLES), case.random.choice((0.0, case.random.uniform(0.0, shared)))
    case.label = f"{' '.join(first)} and {' '.join(second)} after {delay:.2f} s, on {example}"
    copy_example(example, case.tree, git=case.random.random() < 0.8)
    before = snapshot(case.tree)
    if UNDO in pair:
        case.run("apply", case.tree, *GPU, *case.random.choice(((), ("--safe-only",))))
    ended = _at_once(case, first, second, delay)
    for item in ended:
        require(item.problem())
    codes = " and ".join(str(item.code) for item in ended)
    try:
        case.undo_to(before, "both")
    except BrokenPromiseError as error:
        raise BrokenPromiseError(f"the commands exit {codes}; {error}") from error


def _at_once(case: Case, first: tuple[str, ...], second: tuple[str, ...], delay: float) -> list[Ended]:
    running = [case.commands.start(first[0], case.tree, *first[1:])]
    time.sleep(delay)
    running.append(case.commands.start(second[0], case.tree, *second[1:]))
    return [item.wait() for item in running]
