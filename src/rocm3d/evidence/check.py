"""Checks a bundle against its seal: no file changed, missing or added."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from rocm3d.evidence.folder import EVIDENCE_FILE, SEAL_FILE, is_inside, read_bytes
from rocm3d.model.bundle import AlteredFile, Bundle, BundleCheck
from rocm3d.model.errors import UserError
from rocm3d.workspace.tree import file_digest


def check_seal(folder: Path, expected_sha256: str = "") -> BundleCheck:
    """`expected_sha256` is a digest known from elsewhere. Without it, a bundle that was rewritten as a whole passes."""
    data = read_bytes(folder)
    sha256 = hashlib.sha256(data).hexdigest()
    is_sealed = sha256 == _read_seal(folder) and expected_sha256.lower() in ("", sha256)
    try:
        bundle = Bundle.from_json(data.decode("utf-8", "replace"), str(folder / EVIDENCE_FILE))
    except UserError:
        # A changed file may be unreadable. An unchanged one that cannot be read has a newer schema: raise.
        if is_sealed:
            raise
        return BundleCheck(bundle=str(folder), sha256=sha256, altered=(AlteredFile(path=EVIDENCE_FILE, how="changed"),))
    altered = [] if is_sealed else [AlteredFile(path=EVIDENCE_FILE, how="changed")]
    return BundleCheck(
        bundle=str(folder),
        sha256=sha256,
        altered=(*altered, *sorted(_altered_files(folder, bundle), key=lambda item: item.path)),
        sealed=len(bundle.files),
        stages=bundle.stages,
        chains=bundle.chains,
    )


def _read_seal(folder: Path) -> str:
    with (folder / SEAL_FILE).open("rb") as file:
        words = file.read(256).decode("ascii", "replace").split()
    return words[0] if words[1:] == [EVIDENCE_FILE] else ""


def _altered_files(folder: Path, bundle: Bundle) -> Iterator[AlteredFile]:
    present = dict(_files(folder))
    for item in bundle.files:
        path = folder / item.path
        if not is_inside(item.path) or item.path not in present:
            yield AlteredFile(path=item.path, how="missing")
        elif present.pop(item.path):
            yield AlteredFile(path=item.path, how="link")
        elif file_digest(path) != item.sha256:
            yield AlteredFile(path=item.path, how="changed")
    yield from (AlteredFile(path=name, how="link" if is_link else "added") for name, is_link in present.items())


def _files(folder: Path) -> Iterator[tuple[str, bool]]:
    """All files except evidence.json and its seal, each with whether it is a link or a device (never opened)."""
    for parent, folders, names in os.walk(folder):
        for name in (*names, *folders):
            path = Path(parent, name)
            relative = path.relative_to(folder).as_posix()
            is_special = path.is_symlink() or not (path.is_file() or path.is_dir())
            if (name in names or is_special) and (is_special or relative not in (EVIDENCE_FILE, SEAL_FILE)):
                yield relative, is_special
