"""All values of --format, and the documents that each can render.

Renderers are imported on use: loading rich and Jinja takes longer than a small scan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.base import Document


@dataclass(frozen=True)
class RenderContext:
    """Properties of the output, and the knowledge base: a function, because only some formats need it."""

    knowledge: Callable[[], Knowledge]
    terminal: bool = False
    colour: bool = False
    width: int = 100


def _console(document: Any, context: RenderContext) -> str:
    from rocm3d.render import console

    return console.render(document, colour=context.colour, width=context.width, terminal=context.terminal)


def _json(document: Document, context: RenderContext) -> str:  # noqa: ARG001
    return document.to_json()


def _sarif(document: Any, context: RenderContext) -> str:
    from rocm3d.render import sarif

    return sarif.render(document, context.knowledge())


def _markdown(document: Any, context: RenderContext) -> str:
    from rocm3d.render import markdown

    return markdown.render(document, context.knowledge())


def _html(document: Any, context: RenderContext) -> str:  # noqa: ARG001
    from rocm3d.render import html

    return html.render(document)


def _csv(document: Any, context: RenderContext) -> str:  # noqa: ARG001
    from rocm3d.render import csv

    return csv.render(document)


def _svg(document: Any, context: RenderContext) -> str:  # noqa: ARG001
    from rocm3d.render import svg

    return svg.render(document)


@dataclass(frozen=True)
class OutputFormat:
    """`document_kinds` are class names of documents, as strings, so that no model has to be imported."""

    document_kinds: tuple[str, ...]
    render: Callable[[Any, RenderContext], str]


FORMATS = {
    "console": OutputFormat(("Document",), _console),
    "json": OutputFormat(("Document",), _json),
    "sarif": OutputFormat(("Scan",), _sarif),
    "markdown": OutputFormat(
        ("Scan", "Plan", "Verdicts", "Fit", "BundleCheck", "EvidenceDiff", "Diagnosis"), _markdown
    ),
    "csv": OutputFormat(("Matrix",), _csv),
    "svg": OutputFormat(("Matrix",), _svg),
    "html": OutputFormat(("Scan",), _html),
}


def format_names(kind: type[Document] | str) -> tuple[str, ...]:
    """The formats that can render a kind of document, given as a class or its name."""
    kinds = {kind, "Document"} if isinstance(kind, str) else {base.__name__ for base in kind.__mro__}
    return tuple(name for name, form in FORMATS.items() if not kinds.isdisjoint(form.document_kinds))


def join_alternatives(words: Iterable[str]) -> str:
    """Such as `console, json or html`."""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def refuse_unknown_format(format_name: str, known: Iterable[str]) -> None:
    """Raise for an unknown format, before any work is done."""
    known = tuple(known)
    if format_name not in known:
        raise UserError(f"--format {format_name} is not supported here", hint=f"use {join_alternatives(known)}")
