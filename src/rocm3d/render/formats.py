"""All values of --format, and the documents that each can render.

Renderers are imported on use: loading rich and Jinja takes longer than a small scan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rocm3d.model.failure import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.base import Document


@dataclass(frozen=True)
class Surroundings:
    """Properties of the output, and the knowledge base: a function, because only some formats need it."""

    knowledge: Callable[[], Knowledge]
    terminal: bool = False
    colour: bool = False
    width: int = 100


def _console(shown: Any, around: Surroundings) -> str:
    from rocm3d.render import console

    return console.render(shown, colour=around.colour, width=around.width, terminal=around.terminal)


def _json(shown: Any, around: Surroundings) -> str:  # noqa: ARG001
    from rocm3d.render import json

    return json.render(shown)


def _sarif(shown: Any, around: Surroundings) -> str:
    from rocm3d.render import sarif

    return sarif.render(shown, around.knowledge())


def _markdown(shown: Any, around: Surroundings) -> str:
    from rocm3d.render import markdown

    return markdown.render(shown, around.knowledge())


def _html(shown: Any, around: Surroundings) -> str:  # noqa: ARG001
    from rocm3d.render import html

    return html.render(shown)


def _csv(shown: Any, around: Surroundings) -> str:  # noqa: ARG001
    from rocm3d.render import csv

    return csv.render(shown)


def _svg(shown: Any, around: Surroundings) -> str:  # noqa: ARG001
    from rocm3d.render import svg

    return svg.render(shown)


@dataclass(frozen=True)
class Format:
    """`document_kinds` are class names of documents, as strings, so that no model has to be imported."""

    shows: tuple[str, ...]
    render: Callable[[Any, Surroundings], str]


FORMATS = {
    "console": Format(("Document",), _console),
    "json": Format(("Document",), _json),
    "sarif": Format(("Scan",), _sarif),
    "markdown": Format(("Scan", "Plan", "Verdicts", "Fit", "BundleCheck", "EvidenceDiff", "Diagnosis"), _markdown),
    "csv": Format(("Matrix",), _csv),
    "svg": Format(("Matrix",), _svg),
    "html": Format(("Scan",), _html),
}


def names(kind: type[Document] | str) -> tuple[str, ...]:
    """The formats that can render a kind of document, given as a class or its name."""
    kinds = {kind, "Document"} if isinstance(kind, str) else {base.__name__ for base in kind.__mro__}
    return tuple(name for name, form in FORMATS.items() if not kinds.isdisjoint(form.shows))


def listed(words: Iterable[str]) -> str:
    """Such as `console, json or html`."""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def refuse_unknown(form: str, known: Iterable[str]) -> None:
    """Raise for an unknown format, before any work is done."""
    known = tuple(known)
    if form not in known:
        raise UserError(f"--format {form} is not supported here", hint=f"use {listed(known)}")
