"""Prepares a requirement set for a resolver: requirements whose URL does not respond are excluded, with the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rocm3d.workspace.web import without_secrets

if TYPE_CHECKING:
    from rocm3d.verify.resolution.sets import Line, RequirementSet
    from rocm3d.workspace.web import WebClient

_LOCAL = re.compile(r"(===?\s*[\w.!]+)\+[\w.]+")


@dataclass(frozen=True)
class Aside:
    """A distribution that was excluded from the request, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Prepared:
    """A set as it is resolved. `notes` list the differences from the file; `pages` are for --find-links."""

    source: str
    lines: tuple[Line, ...]
    constraints: tuple[Line, ...] = ()
    indexes: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    aside: tuple[Aside, ...] = ()
    notes: tuple[str, ...] = ()


def prepare(given: RequirementSet, web: WebClient, *, plain_versions: bool = False) -> Prepared:
    """`plain_versions`: if no index of the file responds, `1.0+cu121` is requested as `1.0`."""
    silent = {url: why for url in given.urls if (why := web.why_unreachable(url))}
    answering = [url for url in given.urls if url not in silent]
    aside = {line: why for line in given.lines if (why := _why_not(line, web))}
    asked = {line: _plain(line) if plain_versions and not answering else line for line in given.lines}
    notes = [f"index {without_secrets(url)} not used: {why}" for url, why in silent.items()]
    notes += [f"{old.text} resolved as {new.text}" for old, new in asked.items() if old != new]
    return Prepared(
        given.source,
        tuple(new for old, new in asked.items() if old not in aside),
        tuple(_plain(line) if plain_versions else line for line in given.constraints if not line.url),
        tuple(url for url in answering if not _is_page(url)),
        tuple(url for url in answering if _is_page(url)),
        tuple(dict.fromkeys(Aside(line.name, why) for line, why in aside.items())),
        tuple(notes),
    )


def _why_not(line: Line, web: WebClient) -> str:
    """Why the URL of a requirement cannot be fetched; empty if it can, or if there is no URL."""
    if not line.url:
        return ""
    address = re.sub(r"^\w+\+", "", line.url)
    why = web.why_unreachable(address)
    return f"{without_secrets(address)}: {why}" if why else ""


def _plain(line: Line) -> Line:
    return line if line.url else replace(line, text=_LOCAL.sub(r"\1", line.text))


def _is_page(url: str) -> bool:
    """Whether it is a page of links for `--find-links` and not an index."""
    return url.split("?", maxsplit=1)[0].endswith((".html", ".htm"))
