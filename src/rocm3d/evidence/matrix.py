"""Which package blocks which repositories, computed from the documents of scan, plan and verify."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rocm3d.model.failure import UserError
from rocm3d.model.inventory import Scan
from rocm3d.model.matrix import MatrixColumn, Matrix, MatrixRow, LibraryState, UnlockStep
from rocm3d.model.package import Package
from rocm3d.model.plan import Plan
from rocm3d.model.verdict import Verdicts
from rocm3d.workspace.documents import Documents
from rocm3d.workspace.state import STATE_FOLDER

# Decisions that need work; all others are handled by an installer.
_WORK = {"blocked": "blocked", "build": "work", "substitute": "work", "stub": "work"}


@dataclass(frozen=True)
class Known:
    """The documents of one repository, as far as they exist."""

    scan: Scan
    plan: Plan | None = None
    verdicts: Verdicts | None = None


def read(folders: Iterable[Path]) -> list[Known]:
    """Each folder is a repository, a work folder, or contains some of them."""
    found = [known for folder in folders for known in _below(folder)]
    names = [known.scan.inventory.repository for known in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(f"two repositories are named {twice[0]}", hint="pass each once, or rename a folder")
    return found


def matrix(repositories: Iterable[Known], packages: Mapping[str, Package]) -> Matrix:
    """Packages by repositories, and the order of work that unblocks most repositories first."""
    known = sorted(repositories, key=lambda item: item.scan.inventory.repository)
    states: dict[str, dict[str, LibraryState]] = defaultdict(dict)
    for item in known:
        for package, state in _states(item, packages).items():
            states[package][item.scan.inventory.repository] = state
    rows = [MatrixRow(package=name, family=packages[name].family, states=cells) for name, cells in sorted(states.items())]
    rows.sort(key=lambda row: (-len(row.waiting), -len(row.states), row.package))
    columns = tuple(_column(item) for item in known)
    return Matrix(columns=columns, rows=tuple(rows), order=tuple(_order(rows)), free=_free(columns, rows))


def _below(folder: Path) -> list[Known]:
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder")
    inner = sorted(path for path in folder.iterdir() if path.is_dir())
    for place in ([folder, folder / STATE_FOLDER], [*inner, *(path / STATE_FOLDER for path in inner)]):
        if found := [known for path in place if path.is_dir() and (known := _documents(path)) is not None]:
            return found
    raise UserError(
        f"{folder} has no inventory", hint=f"run `rocm3d scan {folder}` first; `rocm3d plan` adds more detail"
    )


def _documents(place: Path) -> Known | None:
    documents = Documents(place)
    scan = documents.find(Scan)
    return None if scan is None else Known(scan, documents.find(Plan), documents.find(Verdicts))


def _states(item: Known, packages: Mapping[str, Package]) -> dict[str, LibraryState]:
    if item.plan is None:
        named = {dependency.package for dependency in item.scan.inventory.dependencies}
        return {name: "named" for name in named if name and name in packages}
    # Each text starts with a module name: `gsplat 1.5.3 from FILE`.
    proven = {
        text.partition(" ")[0]
        for verdict in (item.verdicts.verdicts if item.verdicts else ())
        if verdict.level == "backend" and verdict.outcome == "passed"
        for text in verdict.looked_at
    }
    found: dict[str, LibraryState] = {}
    for decided in item.plan.decisions:
        if decided.package and decided.package in packages:
            state: LibraryState = _WORK.get(decided.decision, "works")  # type: ignore[assignment]
            found[decided.package] = "proven" if proven.intersection(packages[decided.package].imports) else state
    return found


def _column(item: Known) -> MatrixColumn:
    inventory, plan = item.scan.inventory, item.plan
    return MatrixColumn(
        repository=inventory.repository,
        readiness=plan.readiness if plan else inventory.readiness,
        planned=plan.gpu.product if plan else "",
    )


def _order(rows: list[MatrixRow]) -> list[UnlockStep]:
    """Greedy: each step picks the package that unblocks most repositories; ties: the most waiting repositories."""
    waits = _waits(rows)
    waiting = {row.package: len(row.waiting) for row in rows if row.waiting}
    found = []
    while left := {package for names in waits.values() for package in names}:
        frees = {package: [name for name, names in waits.items() if names == {package}] for package in left}
        best = min(left, key=lambda package: (-len(frees[package]), -waiting[package], package))
        found.append(UnlockStep(package=best, frees=tuple(sorted(frees[best])), waiting=waiting[best]))
        waits = {name: names - {best} for name, names in waits.items() if names - {best}}
    return found


def _free(columns: Iterable[MatrixColumn], rows: list[MatrixRow]) -> tuple[str, ...]:
    locked = _waits(rows)
    return tuple(column.repository for column in columns if column.repository not in locked)


def _waits(rows: Iterable[MatrixRow]) -> dict[str, set[str]]:
    waits: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for name in row.waiting:
            waits[name].add(row.package)
    return dict(waits)
