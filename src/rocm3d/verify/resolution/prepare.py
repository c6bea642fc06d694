"""What of a set can be asked here: addresses that do not answer are set aside, by name and with the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rocm3d.workspace.web import without_secrets

if TYPE_CHECKING:
    from rocm3d.verify.resolution.sets import Line, RequirementSet
    from rocm3d.workspace.web import Web

_LOCAL = re.compile(r"(===?\s*[\w.!]+)\+[\w.]+")


@dataclass(frozen=True)
class Aside:
    """A distribution that was not asked for, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Prepared:
    """A set as it is asked for. `notes` say what was asked otherwise than the file does."""

    source: str
    lines: tuple[Line, ...]
    constraints: tuple[Line, ...] = ()
    indexes: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    aside: tuple[Aside, ...] = ()
    notes: tuple[str, ...] = ()


def prepare(given: RequirementSet, web: Web, *, plain_versions: bool = False) -> Prepared:
    """`plain_versions`: where an index does not answer, a local version of it is asked for without its ending."""
    silent = {url: why for url in given.urls if (why := web.why_unreachable(url))}
    answering = [url for url in given.urls if url not in silent]
    aside = {line: why for line in given.lines if (why := _why_not(line, web))}
    asked = {line: _plain(line) if plain_versions and not answering else line for line in given.lines}
    notes = [f"{without_secrets(url)} was not asked: {why}" for url, why in silent.items()]
    notes += [f"{old.text} was asked for as {new.text}" for old, new in asked.items() if old != new]
    return Prepared(
        given.source,
        tuple(new for old, new in asked.items() if old not in aside),
        tuple(_plain(line) if plain_versions else line for line in given.constraints if not line.url),
        tuple(url for url in answering if not _is_page(url)),
        tuple(url for url in answering if _is_page(url)),
        tuple(dict.fromkeys(Aside(line.name, why) for line, why in aside.items())),
        tuple(notes),
    )


def _why_not(line: Line, web: Web) -> str:
    """Why an address cannot be fetched; empty where it can, or where there is none."""
    if not line.url:
        return ""
    address = re.sub(r"^\w+\+", "", line.url)
    why = web.why_unreachable(address)
    return f"{without_secrets(address)}: {why}" if why else ""


def _plain(line: Line) -> Line:
    return line if line.url else replace(line, text=_LOCAL.sub(r"\1", line.text))


def _is_page(url: str) -> bool:
    """A page of links, as `--find-links` takes it, and no index."""
    return url.split("?", maxsplit=1)[0].endswith((".html", ".htm"))
