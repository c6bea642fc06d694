"""One side of a comparison: a bundle, or the record of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rocm3d.evidence.check import check_seal
from rocm3d.evidence.folder import read
from rocm3d.model.errors import UserError
from rocm3d.model.run import RunRecord
from rocm3d.model.verdict import Verdict

_MAX_BYTES = 512 * 1024 * 1024
_ALTERATION_TEXT = {"changed": "changed", "missing": "missing", "added": "new", "link": "a link"}


@dataclass(frozen=True)
class ComparisonSide:
    """`files` are paths on disk by their path in the bundle."""

    name: str
    runs: tuple[RunRecord, ...]
    verdicts: tuple[Verdict, ...] = ()
    files: Mapping[str, Path] = field(default_factory=dict)

    def run(self, name: str) -> RunRecord | None:
        """The run with this name; without a name the only one."""
        if not name and len(self.runs) > 1:
            names = ", ".join(run.name for run in self.runs)
            raise UserError(f"{self.name} has several runs", hint=f"choose one with --run: {names}")
        candidates = [run for run in self.runs if not name or run.name == name]
        if name and self.runs and not candidates:
            names = ", ".join(run.name for run in self.runs)
            raise UserError(f"{self.name} has no run {name!r}", hint=f"its runs: {names}")
        return candidates[0] if candidates else None

    def file(self, path: str) -> Path | None:
        """A file by its path during the run; None if several match."""
        matches = [file for name, file in self.files.items() if name == path or name.endswith(f"/{path}")]
        return matches[0] if len(matches) == 1 else None


def read_side(path: Path) -> ComparisonSide:
    """From an unchanged bundle or from a run.json."""
    if path.is_dir():
        return _read_bundle(path)
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise UserError(f"{path} is too large for a run record")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return ComparisonSide(str(path), (RunRecord.from_json(text, str(path)),))


def _read_bundle(folder: Path) -> ComparisonSide:
    checked = check_seal(folder)
    if checked.altered:
        first = checked.altered[0]
        raise UserError(
            f"{folder} was changed after it was sealed: {first.path} is {_ALTERATION_TEXT[first.how]}",
            hint="see `rocm3d evidence check`; a changed bundle cannot be compared",
        )
    bundle, _ = read(folder)
    return ComparisonSide(
        str(folder), bundle.runs, bundle.verdicts, {item.path: folder / item.path for item in bundle.files}
    )
