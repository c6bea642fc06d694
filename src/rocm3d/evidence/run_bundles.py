"""Reads the runs of a port: `rocm3d run` stores each as a bundle in the folder `runs` next to the documents."""

from __future__ import annotations

from pathlib import Path

from rocm3d.evidence.chain import evidence_chain
from rocm3d.evidence.check import check_seal
from rocm3d.evidence.folder import EVIDENCE_FILE, SEAL_FILE, UNFINISHED_FILE, read
from rocm3d.model.bundle import BundleReport, ReportedRun, UnreadRun
from rocm3d.model.errors import UserError
from rocm3d.workspace.documents import Documents

RUNS_FOLDER = "runs"


def joined_runs(documents: Documents) -> tuple[tuple[ReportedRun, ...], tuple[UnreadRun, ...]]:
    """All runs in a work folder, oldest first, and the folders that are not complete bundles of this user."""
    runs_folder = documents.folder / RUNS_FOLDER
    runs, unread = list[ReportedRun](), list[UnreadRun]()
    # A link could refer to the run of another repository.
    folders = (
        sorted(path for path in runs_folder.iterdir() if path.is_dir() and not path.is_symlink())
        if _is_real_folder(runs_folder)
        else []
    )
    for folder in folders:
        try:
            report = bundle_report(folder)
            # Only so that somebody else's bundle is refused: its digest covers all files of the bundle.
            documents.read_bytes(f"{RUNS_FOLDER}/{folder.name}/{EVIDENCE_FILE}")
            runs += report.runs
        except UserError as error:
            # Reports are shared: no local paths in them.
            unread.append(UnreadRun(folder=folder.name, reason=error.message.replace(str(folder), folder.name)))
    return tuple(sorted(runs, key=lambda item: (item.run.started, item.folder))), tuple(unread)


def is_bundle(folder: Path) -> bool:
    """Whether a folder is a bundle, complete or not. The work folder of a port is not one."""
    if (folder / "inventory.json").is_file():
        return False
    return any((folder / name).is_file() for name in (EVIDENCE_FILE, SEAL_FILE, UNFINISHED_FILE))


def bundle_report(folder: Path) -> BundleReport:
    """A bundle and the result of its seal check. Chains are computed from the runs, not taken from the file."""
    checked = check_seal(folder)
    bundle, _ = read(folder)
    updated = bundle.model_copy(update={"chains": tuple(evidence_chain(run) for run in bundle.runs)})
    return BundleReport(name=folder.resolve().name, sha256=checked.sha256, bundle=updated, altered=checked.altered)


def _is_real_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
