"""Secrets in the arguments, variables and output of a recorded workload."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

from attacks.cases import BrokenPromiseError, Case
from attacks.commands import SUPPORT, support
from attacks.secret_forms import Placed, placed_secrets

NAME = "secrets"
COUNT = 200
PROMISE = "no byte of the evidence of a run holds a secret"

# Prints what lies outside the repository, so that no secret is in a file of it.
WORKLOAD = "import pathlib, sys\nsys.stdout.write(pathlib.Path('../print-this').read_text())\nsys.stdout.flush()\n"


def prepare(folder: Path) -> list[Placed]:  # noqa: ARG001  (every attack has this signature)
    """All secrets in all places, in a repeatable order: ours and those of the tests in turn."""
    own, shared = list(placed_secrets(NAME)), list(_secrets_of_tests())
    for placed in (own, shared):
        random.Random(NAME).shuffle(placed)  # noqa: S311  (a repeatable order)
    rest = own[len(shared) :] or shared[len(own) :]
    return [item for pair in zip(own, shared, strict=False) for item in pair] + rest


def _secrets_of_tests() -> Iterator[Placed]:
    """The secrets of tests/support/secret_shapes.py, where the checkout has them."""
    if not (SUPPORT / "secret_shapes.py").is_file():
        return
    for label, secret, contexts in support("secret_shapes").secret_shapes():
        for number, make in enumerate(contexts.argv):
            yield Placed(f"{label}, arguments {number}", secret, arguments=tuple(make(secret)))
        for name in contexts.env:
            yield Placed(f"{label}, variable {name}", secret, variables=((name, secret),))
        for number, make in enumerate(contexts.output):
            yield Placed(f"{label}, output {number}", secret, printed=make(secret))


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
