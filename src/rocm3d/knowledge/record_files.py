"""Paths and digests of the record files, without loading a model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from rocm3d.knowledge.kinds import FOLDERS, RULE_KINDS, SCAN_KINDS


def data_folder() -> Path:
    """The folder of the shipped records: inside the wheel, or at the root of a checkout."""
    shipped = Path(__file__).parent / "data"
    return shipped if shipped.is_dir() else Path(__file__).parents[3] / "knowledge"


def record_paths(root: Path, kind: str) -> list[Path]:
    """The files of a kind, sorted."""
    if kind in ("rules", *RULE_KINDS):
        return sorted(root.glob("rules/*/*/rule.toml"))
    if kind in FOLDERS:
        return sorted((root / kind).glob("*.toml"))
    return [path for path in (root / f"{kind}.toml",) if path.is_file()]


def scan_fingerprint(roots: Iterable[Path]) -> str:
    """A digest of all files that a scan depends on."""
    digest = hashlib.sha256()
    for root in roots:
        for path in dict.fromkeys(path for kind in SCAN_KINDS for path in record_paths(root, kind)):
            digest.update(f"{path.relative_to(root)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()
