"""Does the bench notice? A port with one human change taken back must be found wanting again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal

from labels import Label
from scoring import Claim

Outcome = Literal["back", "silent", "not in this port"]
Scanner = Callable[[], Sequence[Claim]]


@dataclass(frozen=True)
class Trees:
    """A base and a port of it, side by side, with the names of files that the port renamed."""

    base: Path
    port: Path
    renamed: dict[str, str]

    def in_port(self, file: str) -> str:
        """A file of the base by the name it has in the port."""
        return self.renamed.get(file, file)


def reverted(base: str, port: str, first: int, last: int) -> str | None:
    """The port's text with the hunks at these lines of the base taken back; None where it has none there."""
    old, new = base.splitlines(keepends=True), port.splitlines(keepends=True)
    lines, changed = [], False
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        # An insertion stands after line a; any other hunk replaces lines a+1 to b.
        here = first - 1 <= a <= last if tag == "insert" else a + 1 <= last and first <= b
        take_back = tag != "equal" and here
        changed = changed or take_back
        lines += old[a:b] if take_back else new[c:d]
    return "".join(lines) if changed else None


def check(label: Label, trees: Trees, scan: Scanner, before: Sequence[Claim]) -> Outcome:
    """Take one label's change back, scan, and see whether there is one more finding of its kind in its files."""
    name = trees.in_port(label.file)
    source, target = trees.base / label.file, trees.port / name
    if not (source.is_file() and target.is_file()):
        return "not in this port"
    original = target.read_bytes()
    text = reverted(_text(source), _text(target), label.first, label.last)
    if text is None:
        return "not in this port"
    files = {name, *(trees.in_port(file) for file, _ in label.sites)}
    target.write_text(text, encoding="utf-8")
    try:
        after = list(_of_kind(scan(), label.kind, files))
    finally:
        target.write_bytes(original)
    return "back" if len(after) > len(list(_of_kind(before, label.kind, files))) else "silent"


def sample(labels: Sequence[Label], size: int) -> list[Label]:
    """As many labels, evenly spread and always the same."""
    if len(labels) <= size:
        return list(labels)
    return [labels[index * len(labels) // size] for index in range(size)]


def _of_kind(claims: Sequence[Claim], kind: str, files: set[str]) -> Iterator[Claim]:
    return (claim for claim in claims if kind in claim.kinds and claim.path in files)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")
