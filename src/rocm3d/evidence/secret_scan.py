"""Searches a complete bundle for secrets before it is sealed.

Searched are our documents string by string, without the digests and commits that their models name; every other text
file line by line; and in binary files tokens of known formats and the secrets of the run's command and environment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rocm3d.model.base import Document
from rocm3d.model.bundle import Bundle
from rocm3d.model.errors import UserError
from rocm3d.model.run import RunRecord
from rocm3d.record.redact import Redactor

_DOCUMENTS: dict[str, type[Document]] = {"evidence.json": Bundle, "run.json": RunRecord}
_BLOCK = 1024 * 1024
_MAX_LINE = 2 * _BLOCK
_OVERLAP = 64 * 1024
_TEXT_SAMPLE = 8192


@dataclass(frozen=True)
class LeakedSecret:
    """Where a secret is, and how it was recognised. `line` is 0 in a binary file and in a file name."""

    path: str
    line: int
    kind: str

    def __str__(self) -> str:
        return f"{self.path}{f', line {self.line}' if self.line else ''}: contains {self.kind}"


def refuse_secrets(folder: Path, redactor: Redactor) -> None:
    """Raise UserError if a file of the bundle contains a secret. Copies of such artifacts are removed."""
    leaks = list(find_leaks(folder, redactor))
    if not leaks:
        return
    for leak in leaks:
        # The original is where the program wrote it.
        if leak.path.startswith("files/"):
            (folder / leak.path).unlink(missing_ok=True)
    more = f" (and {len(leaks) - 1} more files)" if len(leaks) > 1 else ""
    raise UserError(
        f"{folder} is not sealed: {leaks[0]}{more}",
        hint="keep the secret out of what the program writes, then run it again",
    )


def find_leaks(folder: Path, redactor: Redactor) -> Iterator[LeakedSecret]:
    """The first secret of every file that has one."""
    # Documents last: they repeat the names of files.
    for path in sorted(folder.rglob("*"), key=lambda path: (path.name in _DOCUMENTS, path)):
        if not path.is_file():
            continue
        name = path.relative_to(folder).as_posix()
        shown = redactor.text(name)
        if shown != name:
            yield LeakedSecret(shown, 0, "a secret in its name")
        document = _DOCUMENTS.get(name)
        leak = _in_document(path, document, redactor) if document else _in_file(path, redactor)
        if leak is not None:
            yield LeakedSecret(shown, *leak)


def _in_document(path: Path, model: type[Document], redactor: Redactor) -> tuple[int, str] | None:
    text = path.read_text(encoding="utf-8", errors="replace")
    document = model.from_json(text, path.name)
    redacted = redactor.record(document)
    if redacted == document:
        return None
    before, after = text.splitlines(), redacted.to_json().splitlines()
    line = next((n for n, (one, other) in enumerate(zip(before, after, strict=False), 1) if one != other), 1)
    return line, "a secret"


def _in_file(path: Path, redactor: Redactor) -> tuple[int, str] | None:
    with path.open("rb") as file:
        is_text = b"\0" not in file.read(_TEXT_SAMPLE)
        file.seek(0)
        lines, carried, block = 1, b"", b"start"
        while block:
            block = file.read(_BLOCK)
            data = carried + block
            # Whole lines, so that a secret is not cut; of what has no lines, overlapping parts.
            line_end = data.rfind(b"\n") + 1 if is_text and len(data) < _MAX_LINE else 0
            searched = data[:line_end] if line_end and block else data
            spans = redactor.find(searched, formats_only=not is_text)
            if spans:
                return (lines + data.count(b"\n", 0, spans[0].start) if is_text else 0), spans[0].kind
            keep = line_end or max(0, len(data) - _OVERLAP)
            lines += data.count(b"\n", 0, keep)
            carried = data[keep:]
    return None
