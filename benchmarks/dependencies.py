"""Dependency benchmark: CUDA packages that rocm3d finds in real repositories, compared with lists made by hand.

python benchmarks/dependencies.py --mirrors DIR [--repository OWNER/NAME]

Every difference is printed and makes the exit code 1: a missed package, a package that is not on the list, a name
without a record, a harmless name with a record, a wrong readiness.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from labels import read_toml
from mirrors import Mirror
from packaging.utils import canonicalize_name
from pydantic import Field

from rocm3d.knowledge.base import Knowledge
from rocm3d.knowledge.load import load as load_knowledge
from rocm3d.model.base import Record
from rocm3d.model.errors import Rocm3dError
from rocm3d.model.inventory import Readiness, Scan
from rocm3d.scan.selection import Selection
from rocm3d.scan.stage import scan
from rocm3d.workspace.tree import Tree

FILE = Path(__file__).with_name("dependencies.toml")
IMPORTS = "imports"
_IMPORT_CODES = "PY"  # the codes of findings about the program's own Python


class RepositoryDependencies(Record):
    """Expected dependencies of one repository. dependencies.toml explains the fields."""

    repository: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    commit: str = Field(pattern=r"^[0-9a-f]{40}$")
    files: dict[str, tuple[str, ...]]
    imports: tuple[str, ...]
    names: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()
    readiness: tuple[Readiness, ...] = ()

    @property
    def package_files(self) -> set[tuple[str, str]]:
        """Pairs of package and file; all imports of a repository count as one file."""
        named = {(package, path) for path, packages in self.files.items() for package in packages}
        return named | {(package, IMPORTS) for package in self.imports}


@dataclass(frozen=True)
class DependencyResult:
    """Findings of one repository, compared with the list."""

    named: RepositoryDependencies
    found_pairs: frozenset[tuple[str, str]]
    readiness: Readiness
    problems: tuple[str, ...]

    @property
    def missed(self) -> set[tuple[str, str]]:
        """Pairs of the list that were not reported."""
        return self.named.package_files - self.found_pairs

    @property
    def false(self) -> set[tuple[str, str]]:
        """Pairs that were reported and are not on the list."""
        return set(self.found_pairs - self.named.package_files)

    @property
    def differences(self) -> list[str]:
        """One line per difference to the list."""
        missed = [f"missed: {package} in {path}" for package, path in sorted(self.missed)]
        false = [f"not on the list: {package} in {path}" for package, path in sorted(self.false)]
        return [*missed, *false, *self.problems]


def load(path: Path = FILE) -> tuple[RepositoryDependencies, ...]:
    """Read and validate the list."""
    return tuple(RepositoryDependencies.model_validate(row) for row in read_toml(path)["repositories"])


def score(named: RepositoryDependencies, document: Scan) -> DependencyResult:
    """Compare a scan with the list."""
    found_pairs = frozenset(_reported_pairs(document))
    inventory = document.inventory
    known = {canonicalize_name(item.name) for item in inventory.dependencies if item.package}
    problems = [f"no record: {name}" for name in named.names if canonicalize_name(name) not in known]
    problems += [f"harmless: {name}" for name in named.harmless if canonicalize_name(name) in known]
    if named.readiness and inventory.readiness not in named.readiness:
        problems.append(f"readiness: {inventory.readiness}, expected {' or '.join(named.readiness)}")
    return DependencyResult(named, found_pairs, inventory.readiness, tuple(problems))


def _reported_pairs(document: Scan) -> Iterator[tuple[str, str]]:
    """Pairs of package and file from the inventory and the findings."""
    for item in document.inventory.dependencies:
        if item.package:
            yield item.package, item.location.path
    for finding in document.findings:
        if finding.package:
            is_import = finding.code.startswith(_IMPORT_CODES) and PurePosixPath(finding.path).suffix == ".py"
            yield finding.package, IMPORTS if is_import else finding.path


def measure(named: RepositoryDependencies, mirrors: Path, knowledge: Knowledge) -> DependencyResult:
    """Scan the repository at its commit."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / named.repository.split("/")[1]
        Mirror.of(mirrors, named.repository).extract(named.commit, root)
        return score(named, scan(Tree.open(root), knowledge, Selection(), lambda _: None))


def report(results: Sequence[DependencyResult]) -> Iterator[str]:
    """The table, its sums, and every difference."""
    yield f"{'repository':44}{'named':>6}{'found':>7}{'missed':>8}{'false':>7}  readiness"
    for result in results:
        expected = result.named.package_files
        counts = (
            f"{len(expected):>6}{len(expected & result.found_pairs):>7}{len(result.missed):>8}{len(result.false):>7}"
        )
        yield f"{result.named.repository:44}{counts}  {result.readiness}"
    expected = sum(len(result.named.package_files) for result in results)
    missed = sum(len(result.missed) for result in results)
    false = sum(len(result.false) for result in results)
    yield f"{'all':44}{expected:>6}{expected - missed:>7}{missed:>8}{false:>7}"
    for result in results:
        yield from (f"{result.named.repository}: {difference}" for difference in result.differences)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--mirrors", type=Path, required=True, help="folder with <owner>+<name>/repo bare mirrors")
    parser.add_argument("--repository", action="append", help="only this one; may be repeated")
    parser.add_argument("--list", type=Path, default=FILE, help="another list than dependencies.toml")
    options = parser.parse_args(arguments)
    known = load(options.list)
    unknown = set(options.repository or ()) - {named.repository for named in known}
    if unknown:
        raise SystemExit(f"not on the list: {', '.join(sorted(unknown))}")
    chosen = [named for named in known if not options.repository or named.repository in options.repository]
    knowledge = load_knowledge()
    results = [measure(named, options.mirrors, knowledge) for named in chosen]
    for line in report(results):
        sys.stdout.write(f"{line}\n")
    return int(any(result.differences for result in results))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Rocm3dError as failure:
        sys.exit(str(failure))
