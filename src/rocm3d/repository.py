"""A repository with the scan stage, its tree and its documents: all that `rocm3d scan` needs to import."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.scan.selection import Selection
from rocm3d.scan.stage import scan
from rocm3d.workspace.documents import Documents
from rocm3d.workspace.state import PORT_FOLDER, work_folder
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.inventory import Scan

Progress = Callable[[str], None]


def _no_progress(message: str) -> None:
    """Show no progress."""


@dataclass
class ScanRepository:
    """One repository, its knowledge base and its work folder. `rocm3d.pipeline.Repository` adds the other stages."""

    root: Path
    knowledge: Knowledge
    work: Path | None = None
    folder: str = PORT_FOLDER
    selection: Selection = field(default_factory=Selection)
    progress: Progress = _no_progress
    cached: bool = False

    def __post_init__(self) -> None:
        Tree.open(self.root)
        self.root = self.root.resolve()
        self.documents = Documents(work_folder(self.root, self.work))

    def scan(self, baseline: Scan | None = None) -> Scan:
        """Scan the current tree. The document has all findings; those of the baseline are not returned."""
        document = self._scan(self._source_tree(), self.selection)
        self.documents.write(document)
        return document if baseline is None else _new_findings(document, baseline)

    def _source_tree(self) -> Tree:
        """The repository's own files, without the port folder."""
        return Tree.open(self.root, excluded_folders=self._port_folders())

    def _port_folders(self) -> frozenset[str]:
        if not (self.root / self.folder).is_dir():
            return frozenset()
        from rocm3d.apply.stage import is_port_folder

        return frozenset({self.folder} if is_port_folder(Tree.open(self.root), self.folder) else ())

    def _scan(self, tree: Tree, selection: Selection) -> Scan:
        if not self.cached:
            return scan(tree, self.knowledge, selection, self.progress)
        from rocm3d.workspace.result_cache import ResultCache

        return scan(tree, self.knowledge, selection, self.progress, ResultCache.open("scan"))


def _new_findings(document: Scan, baseline: Scan) -> Scan:
    from rocm3d.model.finding import new_findings

    new = new_findings(document.findings, baseline.findings)
    return document.model_copy(update={"findings": new, "known": len(document.findings) - len(new)})
