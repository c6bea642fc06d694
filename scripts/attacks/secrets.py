"""Secrets in the arguments, variables and output of a recorded workload."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from attacks.cases import BrokenPromiseError, Case
from attacks.secret_forms import Placed, placed_secrets

NAME = "secrets"
COUNT = 100
PROMISE = "no byte of the evidence of a run holds a secret"

# Prints what lies outside the repository, so that no secret is in a file of it.
WORKLOAD = "import pathlib, sys\nsys.stdout.write(pathlib.Path('../print-this').read_text())\nsys.stdout.flush()\n"


def prepare(folder: Path) -> list[Placed]:  # noqa: ARG001  (every attack has this signature)
    """All secrets in all places, in a repeatable order: the first 100 are of all kinds."""
    placed = list(placed_secrets(NAME))
    random.Random(NAME).shuffle(placed)  # noqa: S311  (a repeatable order)
    return placed


def total(shared: list[Placed], count: int) -> int:
    """At most as many as there are."""
    return min(count, len(shared))


def run(case: Case, shared: list[Placed]) -> None:
    """Record a run with one secret, and look for it in everything that was written."""
    placed = shared[case.number]
    case.label = placed.label
    case.tree.mkdir()
    (case.tree / "workload.py").write_text(WORKLOAD, encoding="utf-8")
    (case.tree.parent / "print-this").write_text(placed.printed, encoding="utf-8", newline="")
    case.commands.cwd = case.tree
    case.commands.environment.update(placed.variables)
    ended = case.run("run", "--no-profile", "--", sys.executable, "workload.py", *placed.arguments)
    if not any((case.tree / ".rocm3d").rglob("run.json")) and ended.code == 0:
        raise BrokenPromiseError("exit 0, and there is no record")
    places = [path for path in _files(case.tree) if placed.text.encode() in path.read_bytes()]
    places += [path for path in _files(case.tree) if placed.text in path.name]
    if places:
        names = ", ".join(path.relative_to(case.tree).as_posix() for path in places)
        raise BrokenPromiseError(f"{names} has the secret")


def _files(tree: Path) -> list[Path]:
    return [path for path in tree.rglob("*") if path.is_file()]
