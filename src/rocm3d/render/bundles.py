"""Bundles of evidence and their differences as lines and tables, for whichever format prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.bundle import Altered, BundleCheck, DiffRow, EvidenceDiff, Link

_HOW = {
    "changed": "changed since it was sealed",
    "missing": "missing",
    "added": "not part of the bundle",
    "link": "a link or device in place of a file",
}
HEADER = ("", "A", "B", "change")


def altered(item: Altered) -> str:
    """One file that is not what was sealed."""
    return f"{item.path}: {_HOW[item.how]}"


def checked(document: BundleCheck) -> str:
    """The outcome in one line."""
    if document.altered:
        return f"{document.bundle} is not what was sealed: {len(document.altered)} of its files"
    return f"{document.bundle} is as it was sealed: {document.sealed} files; sha256 of evidence.json {document.sha256}"


def chains(document: BundleCheck) -> Iterator[tuple[str, Link]]:
    """Every link with the run that it belongs to."""
    for chain in document.chains:
        for link in chain.links:
            yield chain.run or "no run", link


def link(item: Link) -> str:
    """What is there, or that it is missing and why."""
    return item.what if item.there else f"missing: {item.what}"


def link_rows(document: EvidenceDiff) -> Iterator[tuple[str, str, str]]:
    """The chain on both sides."""
    return ((pair.link, link(pair.a), link(pair.b)) for pair in document.links)


def sections(document: EvidenceDiff) -> Iterator[tuple[str, list[DiffRow]]]:
    """Rows that differ, by section."""
    found: dict[str, list[DiffRow]] = {}
    for row in document.rows:
        if row.differs:
            found.setdefault(row.section, []).append(row)
    yield from found.items()


def cells(row: DiffRow) -> tuple[str, str, str, str]:
    """One row of a table; a side without it has a dash."""
    return row.name, row.a or "-", row.b or "-", row.change


def compared(document: EvidenceDiff) -> str:
    """The outcome in one line."""
    differ = sum(row.differs for row in document.rows)
    worse = f"; B is worse in {len(document.worse)}" if document.worse else "; B lacks nothing that A has"
    return f"{differ} of {len(document.rows)} rows differ{worse}"
