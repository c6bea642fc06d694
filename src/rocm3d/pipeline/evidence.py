"""Evidence on disk: checks and compares bundles of runs, and builds the support matrix of many repositories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from rocm3d.evidence.check import check_seal
from rocm3d.evidence.comparison_side import read_side
from rocm3d.evidence.difference import compare_evidence
from rocm3d.evidence.matrix import matrix, read
from rocm3d.model.bundle import BundleCheck, EvidenceDiff
from rocm3d.model.inventory import Matrix
from rocm3d.model.package import Package


def check_bundle(folder: Path, digest: str = "") -> BundleCheck:
    """Whether the bundle is unchanged since it was sealed; `digest` is the expected one, if known."""
    return check_seal(folder, digest)


def compare_bundles(a: Path, b: Path, run: str = "") -> EvidenceDiff:
    """How two runs differ; `a` and `b` are bundles or run.json files."""
    return compare_evidence(read_side(a), read_side(b), run)


def support_matrix(folders: Iterable[Path], packages: Mapping[str, Package]) -> Matrix:
    """How many repositories each library unblocks, from the documents in these folders."""
    return matrix(read(folders), packages)
