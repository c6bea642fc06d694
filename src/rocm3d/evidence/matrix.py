"""Which package blocks which repositories, computed from the documents of scan, plan and verify."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rocm3d.evidence.port_runs import port_runs, written_by_earlier_runs
from rocm3d.evidence.port_state import PortFacts, port_state
from rocm3d.evidence.tree_digest import tree_digest
from rocm3d.model.errors import UserError
from rocm3d.model.inventory import LibraryState, Matrix, MatrixColumn, MatrixRow, Scan, UnlockStep
from rocm3d.model.package import Package
from rocm3d.model.patch import Patch
from rocm3d.model.plan import DependencyDecision, Plan
from rocm3d.model.port_state import PortState
from rocm3d.model.verdict import Verdicts
from rocm3d.workspace.documents import Documents
from rocm3d.workspace.state import PORT_FOLDER, STATE_FOLDER

# Decisions that need work; all others are handled by an installer.
_STATE_OF_DECISION: Mapping[str, LibraryState] = {
    "blocked": "blocked",
    "build": "work",
    "substitute": "work",
    "stub": "work",
}


@dataclass(frozen=True)
class RepositoryDocuments:
    """The documents of one repository, as far as they exist, and the state of its port."""

    scan: Scan
    plan: Plan | None = None
    verdicts: Verdicts | None = None
    state: PortState | None = None


def read(folders: Iterable[Path]) -> list[RepositoryDocuments]:
    """Each folder is a repository, a work folder, or contains some of them."""
    repositories = [known for folder in folders for known in _read_folder(folder)]
    names = [known.scan.inventory.repository for known in repositories]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(f"two repositories are named {twice[0]}", hint="pass each once, or rename a folder")
    return repositories


def matrix(repositories: Iterable[RepositoryDocuments], packages: Mapping[str, Package]) -> Matrix:
    """Packages by repositories, and the order of work that unblocks most repositories first."""
    known = sorted(repositories, key=lambda item: item.scan.inventory.repository)
    states: dict[str, dict[str, LibraryState]] = defaultdict(dict)
    for item in known:
        for package, state in _package_states(item, packages).items():
            states[package][item.scan.inventory.repository] = state
    rows = [
        MatrixRow(package=name, family=packages[name].family, states=cells) for name, cells in sorted(states.items())
    ]
    rows.sort(key=lambda row: (-len(row.waiting), -len(row.states), row.package))
    columns = tuple(_column(item) for item in known)
    return Matrix(
        columns=columns, rows=tuple(rows), order=tuple(_unlock_order(rows)), free=_unblocked_repositories(columns, rows)
    )


def _read_folder(folder: Path) -> list[RepositoryDocuments]:
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder")
    inner = sorted(path for path in folder.iterdir() if path.is_dir())
    for candidates in ([folder, folder / STATE_FOLDER], [*inner, *(path / STATE_FOLDER for path in inner)]):
        if repositories := [
            known
            for path in candidates
            if path.is_dir() and (known := _read_documents(path, trusted=path == folder)) is not None
        ]:
            return repositories
    raise UserError(
        f"{folder} has no inventory", hint=f"run `rocm3d scan {folder}` first; `rocm3d plan` adds more detail"
    )


def _read_documents(folder: Path, *, trusted: bool) -> RepositoryDocuments | None:
    """Documents of a folder that the user named, or documents that rocm3d wrote into a repository."""
    documents = Documents(folder, trusted=trusted)
    scan, plan, patch = documents.find_own(Scan), documents.find_own(Plan), documents.find_own(Patch)
    if scan is None:
        return None
    verdicts = documents.find_own(Verdicts)
    if folder.name == STATE_FOLDER:
        tree = tree_digest(folder.parent, patch.folder if patch else PORT_FOLDER, written_by_earlier_runs(documents))
        runs = tuple(run.sealed for run in port_runs(documents, folder.parent))
        facts = PortFacts(tree, scan, plan, patch, verdicts, runs)
    else:
        # The sources are somewhere else: the state is that after the last apply.
        facts = PortFacts(patch.tree if patch else "", scan, plan, patch, verdicts)
    return RepositoryDocuments(scan, plan, verdicts, port_state(facts))


def _package_states(repository: RepositoryDocuments, packages: Mapping[str, Package]) -> dict[str, LibraryState]:
    if repository.plan is None:
        named = {dependency.package for dependency in repository.scan.inventory.dependencies}
        return {name: "named" for name in named if name and name in packages}
    # Each text starts with a module name: `gsplat 1.5.3 from FILE`.
    proven = {
        text.partition(" ")[0]
        for verdict in (repository.verdicts.verdicts if repository.verdicts else ())
        if verdict.level == "backend" and verdict.outcome == "passed"
        for text in verdict.looked_at
    }
    states: dict[str, LibraryState] = {}
    for decision in repository.plan.decisions:
        if decision.package and decision.package in packages:
            state = _decision_state(decision)
            states[decision.package] = "proven" if proven.intersection(packages[decision.package].imports) else state
    return states


def _decision_state(decision: DependencyDecision) -> LibraryState:
    """A replacement under another import name needs edits, and counts as work until somebody has run it."""
    if decision.decision == "replace" and not decision.import_kept and not decision.verified_on:
        return "work"
    return _STATE_OF_DECISION.get(decision.decision, "works")


def _column(repository: RepositoryDocuments) -> MatrixColumn:
    inventory, plan = repository.scan.inventory, repository.plan
    return MatrixColumn(
        repository=inventory.repository,
        readiness=plan.readiness if plan else inventory.readiness,
        planned=plan.gpu.product if plan else "",
        state=repository.state,
    )


def _unlock_order(rows: list[MatrixRow]) -> list[UnlockStep]:
    """Greedy: each step picks the package that unblocks most repositories; ties: the most waiting repositories."""
    waits = _packages_by_waiting_repository(rows)
    waiting = {row.package: len(row.waiting) for row in rows if row.waiting}
    order = []
    while remaining := {package for names in waits.values() for package in names}:
        frees = {package: [name for name, names in waits.items() if names == {package}] for package in remaining}
        best = min(remaining, key=lambda package: (-len(frees[package]), -waiting[package], package))
        order.append(UnlockStep(package=best, frees=tuple(sorted(frees[best])), waiting=waiting[best]))
        waits = {name: names - {best} for name, names in waits.items() if names - {best}}
    return order


def _unblocked_repositories(columns: Iterable[MatrixColumn], rows: list[MatrixRow]) -> tuple[str, ...]:
    waiting = _packages_by_waiting_repository(rows)
    return tuple(column.repository for column in columns if column.repository not in waiting)


def _packages_by_waiting_repository(rows: Iterable[MatrixRow]) -> dict[str, set[str]]:
    waits: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for name in row.waiting:
            waits[name].add(row.package)
    return dict(waits)
