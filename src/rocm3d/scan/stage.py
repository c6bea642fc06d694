"""The scan itself: every file once, then what the names tell, then the sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from rocm3d.model.inventory import Counts, Inventory, Scan
from rocm3d.scan.file import FileResult, is_wanted, look_at, look_at_paths
from rocm3d.scan.readiness import readiness

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.finding import Finding
    from rocm3d.scan.selection import Selection
    from rocm3d.workspace.tree import Tree


def scan(tree: Tree, knowledge: Knowledge, selection: Selection, progress: Callable[[str], None]) -> Scan:
    """Everything CUDA-first in a tree. `progress` is told each path before it is read."""
    paths = tree.paths()
    results = [look_at_paths(paths, knowledge, selection)]
    for path in paths:
        progress(path)
        data = tree.read(path) if is_wanted(path) else None
        if data is not None:
            results.append(look_at(path, data, knowledge, selection))
    findings = sorted((finding for result in results for finding in result.findings), key=_order)
    return Scan(inventory=_inventory(tree, paths, knowledge, results, findings), findings=tuple(findings))


def _inventory(
    tree: Tree, paths: list[str], knowledge: Knowledge, results: Iterable[FileResult], findings: list[Finding]
) -> Inventory:
    results = list(results)
    dependencies = tuple(item for result in results for item in result.dependencies)
    skipped = (*tree.skipped, *(item for result in results for item in result.skipped))
    families = Counter(finding.family for finding in findings if finding.family is not None)
    state, reasons = readiness(findings, dependencies, knowledge)
    return Inventory(
        repository=tree.name,
        counts=Counts(
            files=len(paths),
            bytes=sum(tree.size(path) for path in paths),
            python=sum(result.python for result in results),
            cuda=sum(result.cuda for result in results),
            manifests=sum(result.manifests for result in results),
        ),
        dependencies=dependencies,
        extensions=tuple(item for result in results for item in result.extensions),
        families=dict(sorted(families.items())),
        skipped=tuple(sorted(skipped, key=lambda item: (item.path, item.reason))),
        ignored=sum(result.ignored for result in results),
        readiness=state,
        reasons=reasons,
    )


def _order(finding: Finding) -> tuple[str, int, int, str]:
    return finding.path, finding.line, finding.column, finding.code
