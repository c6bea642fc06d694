"""The digest of the files that a port is checked on: sources, manifests, and everything in the port's folder."""

from __future__ import annotations

import hashlib
from collections.abc import Set
from pathlib import Path

from rocm3d.manifest.manifest import manifest_readers
from rocm3d.workspace.code_files import is_code
from rocm3d.workspace.tree import Tree

# Further headers, beside those that the digest of a run covers.
_HEADERS = (".hh", ".ipp", ".tpp", ".txx")
_DOCUMENTATION = (".md", ".rst")


def tree_digest(root: Path, folder: str, excluded: Set[str] = frozenset()) -> str:
    """SHA-256 of names and content. `excluded`: what recorded runs wrote. Work folders and environments never count."""
    tree, digest = Tree.open(root), hashlib.sha256()
    for path in tree.paths():
        is_of_port = path.startswith(f"{folder}/")
        if is_of_port or (path not in excluded and _is_checked(path)):
            digest.update(f"{path!r} {_content_digest(tree, path)}\n".encode())
    return digest.hexdigest()


def _is_checked(path: str) -> bool:
    """Documentation names packages too, but no check of a port depends on it."""
    if path.lower().endswith(_DOCUMENTATION):
        return False
    determines_build = is_code(path.rpartition("/")[2]) or path.lower().endswith(_HEADERS)
    return determines_build or any(reader.matches(path) for reader in manifest_readers() if not reader.by_name)


def _content_digest(tree: Tree, path: str) -> str:
    """A file above the limit of the tree counts by size and time: it may have any size, and no stage reads it."""
    data = tree.read(path)
    if data is not None:
        return hashlib.sha256(data).hexdigest()
    try:
        status = (tree.root / path).lstat()
    except OSError as error:
        return f"unreadable: {error.errno}"
    return f"not read: {status.st_size} {status.st_mtime_ns}"
