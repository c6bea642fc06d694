"""All values of --format, and the documents that each can render.

Renderers are imported on use: loading rich and Jinja takes longer than a small scan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
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


@dataclass(frozen=True)
class OutputFormat:
    """`document_kinds` are class names of documents, as strings, so that no model has to be imported."""

    document_kinds: tuple[str, ...]
    render: Callable[[Any, RenderContext], str]


def _renderer(name: str) -> Any:
    return import_module(f"rocm3d.render.{name}")


def _console(document: Document, context: RenderContext) -> str:
    shown: str = _renderer("console").render(
        document, colour=context.colour, width=context.width, terminal=context.terminal
    )
    return shown


FORMATS = {
    "console": OutputFormat(("Document",), _console),
    "json": OutputFormat(("Document",), lambda document, _: document.to_json()),
    "sarif": OutputFormat(("Scan",), lambda scan, context: _renderer("sarif").render(scan, context.knowledge())),
    "markdown": OutputFormat(
        ("Scan", "Plan", "Verdicts", "Fit", "BundleCheck", "EvidenceDiff", "Diagnosis"),
        lambda document, context: _renderer("markdown").render(document, context.knowledge()),
    ),
    "csv": OutputFormat(("Matrix",), lambda matrix, _: _renderer("csv").render(matrix)),
    "svg": OutputFormat(("Matrix",), lambda matrix, _: _renderer("svg").render(matrix)),
    "html": OutputFormat(("Scan",), lambda scan, _: _renderer("html").render(scan)),
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
