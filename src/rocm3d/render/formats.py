"""The formats of --format: which there are, and which documents each one can show. The only list of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rocm3d.model.base import Document
from rocm3d.model.failure import UserError
from rocm3d.model.inventory import Scan
from rocm3d.model.plan import Plan
from rocm3d.model.verdict import Verdicts
from rocm3d.render import console, html, json, markdown, sarif

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.knowledge.base import Knowledge


@dataclass(frozen=True)
class Surroundings:
    """What a format may ask for: where it is shown, and the knowledge, which is loaded only by those that need it."""

    knowledge: Callable[[], Knowledge]
    terminal: bool = False
    colour: bool = False
    width: int = 100


@dataclass(frozen=True)
class Format:
    """One format; `shows` are the kinds of document it has a form for."""

    shows: tuple[type[Document], ...]
    render: Callable[[Any, Surroundings], str]


FORMATS = {
    "console": Format(
        (Document,), lambda it, s: console.render(it, colour=s.colour, width=s.width, terminal=s.terminal)
    ),
    "json": Format((Document,), lambda it, _: json.render(it)),
    "sarif": Format((Scan,), lambda it, s: sarif.render(it, s.knowledge())),
    "markdown": Format((Scan, Plan, Verdicts), lambda it, s: markdown.render(it, s.knowledge())),
    "html": Format((Scan,), lambda it, _: html.render(it)),
}


def names(kind: type[Document]) -> tuple[str, ...]:
    """The formats that a kind of document can be had in."""
    return tuple(name for name, form in FORMATS.items() if issubclass(kind, form.shows))


def listed(words: Iterable[str]) -> str:
    """For example `console, json or html`."""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def refuse_unknown(form: str, known: Iterable[str]) -> None:
    """One clear line for a format that is not there, before any work is done."""
    known = tuple(known)
    if form not in known:
        raise UserError(f"--format {form} is not known here", hint=f"use {listed(known)}")
