"""Console forms of upstream drafts and the ledger of fixes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.text import Text

from rocm3d.model.counted import counted
from rocm3d.model.upstream import Drafts, Ledger
from rocm3d.render.console_forms import document_lines, summary_lines
from rocm3d.render.sanitize import clean

if TYPE_CHECKING:
    from rich.console import RenderableType

_STATE_STYLE = {"open": "yellow", "merged": "green", "refused": "bold red"}


@document_lines.register(Drafts)
def _drafts(document: Drafts) -> Iterable[RenderableType]:
    for item in document.drafts:
        origin = f" for {clean(item.origin)}" if item.origin else ""
        yield Text.assemble((f"{item.folder}/", "bold"), f" {item.kind}{origin}: {clean(item.title)}")
        counts = f"  checks: {item.passed} passed, {item.failed} failed, {item.not_tested} not tested"
        yield Text(f"{counts}; in the ledger as {item.fix}" if item.fix else counts)


@summary_lines.register(Drafts)
def _drafts_closing(document: Drafts) -> Iterable[RenderableType]:
    yield Text(f"{counted(len(document.drafts), 'draft')}; nothing was sent. Read before-sending.md first.")


@document_lines.register(Ledger)
def _ledger(document: Ledger) -> Iterable[RenderableType]:
    for item in document.fixes:
        waiting = (
            f"{len(item.repositories)}: {clean(', '.join(item.repositories))}" if item.repositories else "none yet"
        )
        yield Text.assemble((f"{item.state:8}", _STATE_STYLE[item.state]), (item.id, "bold"), f" unblocks {waiting}")
        links = clean(", ".join(item.links)) or "no link: not sent yet"
        yield Text(f"  {links} (since {item.first}, changed {item.changed})", style="dim")
        yield from (Text(f"  {clean(text)}", style="dim") for text in (item.what, item.note) if text)


@summary_lines.register(Ledger)
def _ledger_closing(document: Ledger) -> Iterable[RenderableType]:
    states = Counter(str(item.state) for item in document.fixes)
    waiting = {name for item in document.fixes if item.state == "open" for name in item.repositories}
    yield Text(
        f"{', '.join(f'{states[state]} {state}' for state in _STATE_STYLE)}; waiting repositories: {len(waiting)}"
    )
