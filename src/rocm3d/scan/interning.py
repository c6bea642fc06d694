"""String interning for findings: equal strings share memory when a scan has hundreds of thousands of findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocm3d.model.finding import Finding

if TYPE_CHECKING:
    from rocm3d.scan.file_scan import FileResult

_ALL_FIELDS = set(Finding.model_fields)  # one shared fields-set instead of one per finding


class StringInterner:
    """Replaces the strings of findings with shared copies."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def __call__(self, result: FileResult) -> FileResult:
        """An equal result whose findings share their strings."""
        if not result.findings:
            return result
        return result.model_copy(update={"findings": tuple(map(self._interned, result.findings))})

    def _interned(self, finding: Finding) -> Finding:
        intern = self._texts.setdefault
        values: dict[str, Any] = {k: intern(v, v) if isinstance(v, str) else v for k, v in finding.__dict__.items()}
        return Finding.model_construct(_ALL_FIELDS, **values)
