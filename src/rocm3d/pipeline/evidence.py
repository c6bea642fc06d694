"""Evidence that lies in folders: bundles of runs, and what the stages wrote about many repositories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from rocm3d.evidence.check import check
from rocm3d.evidence.difference import difference
from rocm3d.evidence.matrix import matrix, read
from rocm3d.evidence.side import side
from rocm3d.model.bundle import BundleCheck, EvidenceDiff
from rocm3d.model.matrix import Matrix
from rocm3d.model.package import Package


def check_bundle(folder: Path, digest: str = "") -> BundleCheck:
    """Whether a bundle is still what was sealed; `digest` is one that somebody was told."""
    return check(folder, digest)


def compare_bundles(a: Path, b: Path, run: str = "") -> EvidenceDiff:
    """How two runs differ; each is a bundle or the run.json of one."""
    return difference(side(a), side(b), run)


def support_matrix(folders: Iterable[Path], packages: Mapping[str, Package]) -> Matrix:
    """Which library unlocks how many repositories, from the documents below these folders."""
    return matrix(read(folders), packages)
