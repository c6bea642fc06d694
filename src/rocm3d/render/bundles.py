"""Evidence bundles and their differences as lines and table rows, shared by all text formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.counted import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.bundle import AlteredFile, BundleCheck, DiffRow, EvidenceDiff, Link

_ALTERATION_TEXT = {
    "changed": "changed since it was sealed",
    "missing": "missing",
    "added": "not part of the bundle",
    "link": "a link or device in place of a file",
}
HEADER = ("", "A", "B", "change")


def altered_text(altered: AlteredFile) -> str:
    """Such as `log.txt: changed since it was sealed`."""
    return f"{altered.path}: {_ALTERATION_TEXT[altered.how]}"


def check_summary(document: BundleCheck) -> str:
    """The outcome in one line."""
    if document.altered:
        return f"{document.bundle} was changed after it was sealed; files affected: {len(document.altered)}"
    return (
        f"{document.bundle} is unchanged: {counted(document.sealed, 'file')}; sha256 of evidence.json {document.sha256}"
    )


def chain_links(document: BundleCheck) -> Iterator[tuple[str, Link]]:
    """All links, each with the name of its run."""
    for chain in document.chains:
        for link in chain.links:
            yield chain.run or "no run", link


def link_text(link: Link) -> str:
    """The content of a link, or why it is missing."""
    return link.what if link.there else f"missing: {link.what}"


def link_rows(document: EvidenceDiff) -> Iterator[tuple[str, str, str]]:
    """The chains of both sides, link by link."""
    return ((pair.link, link_text(pair.a), link_text(pair.b)) for pair in document.links)


def differing_sections(document: EvidenceDiff) -> Iterator[tuple[str, list[DiffRow]]]:
    """Rows by section; equal rows are left out."""
    rows_by_section: dict[str, list[DiffRow]] = {}
    for row in document.rows:
        if row.differs:
            rows_by_section.setdefault(row.section, []).append(row)
    yield from rows_by_section.items()


def row_cells(row: DiffRow) -> tuple[str, str, str, str]:
    """A dash for a side without a value."""
    return row.name, row.a or "-", row.b or "-", row.change


def diff_summary(document: EvidenceDiff) -> str:
    """The outcome in one line."""
    differ = sum(row.differs for row in document.rows)
    worse = f"; worse in B: {len(document.worse)}" if document.worse else "; B is not worse than A"
    return f"{differ} of {len(document.rows)} rows differ{worse}"
