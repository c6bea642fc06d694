"""The cached result of an earlier scan of an unchanged tree. Imports no rules, knowledge or models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.knowledge.record_files import data_folder, scan_fingerprint
from rocm3d.scan.scan_cache import ScanCache, key_prefix
from rocm3d.workspace.documents import DOCUMENT_FILES, Documents
from rocm3d.workspace.result_cache import ResultCache
from rocm3d.workspace.state import PORT_FOLDER, work_folder
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm3d.scan.scan_cache import CachedScan


def cached_scan(path: Path, work: Path | None, only: Sequence[str], skip: Sequence[str]) -> CachedScan | None:
    """The cache entry for this tree, these rules and the shipped knowledge; also writes its document.

    None if there is no entry, or if a real scan is required: the repository has its own settings or a port folder.
    """
    tree = Tree.open(path)
    cache = ResultCache.open("scan")
    if cache is None or (tree.root / PORT_FOLDER).is_dir() or _has_settings(tree):
        return None
    entry = ScanCache(cache, tree, key_prefix(scan_fingerprint([data_folder()]), only, skip)).find()
    if entry is not None:
        documents = Documents(work_folder(tree.root, work))
        documents.write_text(documents.folder / DOCUMENT_FILES["Scan"][0], entry.text)
    return entry


def _has_settings(tree: Tree) -> bool:
    return tree.peek("rocm3d.toml") is not None or b"rocm3d" in (tree.peek("pyproject.toml") or b"")
