"""Reads the runs of a port: `rocm3d run` stores each as a bundle in the folder `runs` next to the documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.evidence.chain import chain
from rocm3d.evidence.check import check
from rocm3d.evidence.folder import MARK, NAME, SEAL, read
from rocm3d.model.failure import UserError
from rocm3d.model.report import BundleReport, ReportedRun, UnreadRun

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "runs"


def joined_runs(work: Path) -> tuple[tuple[ReportedRun, ...], tuple[UnreadRun, ...]]:
    """All runs in a work folder, oldest first, and the folders that are not complete bundles."""
    place = work / FOLDER
    runs, unread = list[ReportedRun](), list[UnreadRun]()
    # A link could refer to the run of another repository.
    inside = (
        sorted(path for path in place.iterdir() if path.is_dir() and not path.is_symlink()) if _is_ours(place) else []
    )
    for folder in inside:
        try:
            runs += bundle_report(folder).runs
        except UserError as error:
            # Reports are shared: no local paths in them.
            unread.append(UnreadRun(folder=folder.name, reason=error.message.replace(str(folder), folder.name)))
    return tuple(sorted(runs, key=lambda item: (item.run.started, item.folder))), tuple(unread)


def is_bundle(folder: Path) -> bool:
    """Whether a folder is a bundle, complete or not. The work folder of a port is not one."""
    if (folder / "inventory.json").is_file():
        return False
    return any((folder / name).is_file() for name in (NAME, SEAL, MARK))


def bundle_report(folder: Path) -> BundleReport:
    """A bundle and the result of its seal check. Chains are computed from the runs, not taken from the file."""
    looked = check(folder)
    bundle, _ = read(folder)
    again = bundle.model_copy(update={"chains": tuple(chain(run) for run in bundle.runs)})
    return BundleReport(name=folder.resolve().name, sha256=looked.sha256, bundle=again, altered=looked.altered)


def _is_ours(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()
