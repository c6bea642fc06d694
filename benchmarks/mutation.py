"""Checks the corpus benchmark: a port with one human change reverted must have the finding again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal

from labels import Label
from scoring import MAX_LINE_DISTANCE, ScoredFinding

Outcome = Literal["back", "silent", "explained", "not in this port"]
Scanner = Callable[[], Sequence[ScoredFinding]]


@dataclass(frozen=True)
class Trees:
    """A base and a port of it, side by side, with the names of files that the port renamed."""

    base: Path
    port: Path
    renamed: dict[str, str]

    def in_port(self, file: str) -> str:
        """A file of the base by the name it has in the port."""
        return self.renamed.get(file, file)


@dataclass(frozen=True)
class RevertedPort:
    """The text of a port with a change reverted, and the lines of the change before (in the port) and after."""

    text: str
    before: tuple[int, int]
    after: tuple[int, int]


def revert_hunks(base: str, port: str, *ranges: tuple[int, int]) -> RevertedPort | None:
    """The port with the hunks at these lines of the base reverted; None if it has none there."""
    old, new = base.splitlines(keepends=True), port.splitlines(keepends=True)
    lines: list[str] = []
    was: list[int] = []
    now: list[int] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        take_back = tag != "equal" and any(_touches(tag, a, b, first, last) for first, last in ranges)
        if take_back:
            was += [c + 1, max(d, c + 1)]
            now += [len(lines) + 1, len(lines) + max(b - a, 1)]
        lines += old[a:b] if take_back else new[c:d]
    return RevertedPort("".join(lines), (min(was), max(was)), (min(now), max(now))) if was else None


def _touches(tag: str, a: int, b: int, first: int, last: int) -> bool:
    """An insertion is after line a; any other hunk replaces lines a+1 to b."""
    return first - 1 <= a <= last if tag == "insert" else a + 1 <= last and first <= b


def check_label(label: Label, trees: Trees, scan: Scanner, before: Sequence[ScoredFinding]) -> Outcome:
    """Revert the change of one label, scan, and check for a finding of its kind: one more in its files, or a new one
    at the lines of the change."""
    name = trees.in_port(label.file)
    source, target = trees.base / label.file, trees.port / name
    if not (source.is_file() and target.is_file()):
        return "not in this port"
    original = target.read_bytes()
    mutant = revert_hunks(_text(source), _text(target), (label.first, label.last), *label.also)
    if mutant is None:
        return "not in this port"
    files = {name, *(trees.in_port(file) for file, _ in label.sites)}
    target.write_text(mutant.text, encoding="utf-8")
    try:
        after = list(_of_kind(scan(), label.kind, files))
    finally:
        target.write_bytes(original)
    known = list(_of_kind(before, label.kind, files))
    new = _has_claim_near(after, name, mutant.after) and not _has_claim_near(known, name, mutant.before)
    if len(after) > len(known) or new:
        return "back"
    return "explained" if label.unnoticed else "silent"


def _has_claim_near(claims: Sequence[ScoredFinding], file: str, lines: tuple[int, int]) -> bool:
    return any(
        claim.path == file and lines[0] - MAX_LINE_DISTANCE <= claim.line <= lines[1] + MAX_LINE_DISTANCE
        for claim in claims
    )


def spread_sample(labels: Sequence[Label], size: int) -> list[Label]:
    """`size` labels, evenly spread and deterministic."""
    if len(labels) <= size:
        return list(labels)
    return [labels[index * len(labels) // size] for index in range(size)]


def _of_kind(claims: Sequence[ScoredFinding], kind: str, files: set[str]) -> Iterator[ScoredFinding]:
    return (claim for claim in claims if kind in claim.kinds and claim.path in files)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")
