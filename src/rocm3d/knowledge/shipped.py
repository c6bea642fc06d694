"""Paths and digests of the record files, without loading a model."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.knowledge.kinds import FOLDERS, RECIPES, SCANNED

if TYPE_CHECKING:
    from collections.abc import Iterable


def data_folder() -> Path:
    """The folder of the shipped records: inside the wheel, or at the root of a checkout."""
    shipped = Path(__file__).parent / "data"
    return shipped if shipped.is_dir() else Path(__file__).parents[3] / "knowledge"


def paths_of(root: Path, kind: str) -> list[Path]:
    """The files of a kind, sorted."""
    if kind in RECIPES:
        return sorted(root.glob(f"{kind}/*/*/recipe.toml"))
    if kind in FOLDERS:
        return sorted((root / kind).glob("*.toml"))
    return [path for path in (root / f"{kind}.toml",) if path.is_file()]


def fingerprint(roots: Iterable[Path]) -> str:
    """A digest of all files that a scan depends on."""
    known = hashlib.sha256()
    for root in roots:
        for path in (path for kind in SCANNED for path in paths_of(root, kind)):
            known.update(f"{path.relative_to(root)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return known.hexdigest()
