"""Prepares a requirement set for a resolver: requirements whose URL does not respond are excluded, with the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rocm3d.workspace.web import without_secrets

if TYPE_CHECKING:
    from rocm3d.verify.resolution.sets import RequirementLine, RequirementSet
    from rocm3d.workspace.web import WebClient

_LOCAL = re.compile(r"(===?\s*[\w.!]+)\+[\w.]+")


@dataclass(frozen=True)
class ExcludedRequirement:
    """A distribution that was excluded from the request, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class PreparedSet:
    """A set as it is resolved. `notes` list the differences from the file; `pages` are for --find-links."""

    source: str
    lines: tuple[RequirementLine, ...]
    constraints: tuple[RequirementLine, ...] = ()
    indexes: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    excluded: tuple[ExcludedRequirement, ...] = ()
    notes: tuple[str, ...] = ()


def prepare(requirement_set: RequirementSet, web: WebClient, *, plain_versions: bool = False) -> PreparedSet:
    """`plain_versions`: if no index of the file responds, `1.0+cu121` is requested as `1.0`."""
    unreachable = {url: why for url in requirement_set.urls if (why := web.why_unreachable(url))}
    reachable = [url for url in requirement_set.urls if url not in unreachable]
    excluded = {line: why for line in requirement_set.lines if (why := _unreachable_reason(line, web))}
    requested = {
        line: _without_local_version(line) if plain_versions and not reachable else line
        for line in requirement_set.lines
    }
    notes = [f"index {without_secrets(url)} not used: {why}" for url, why in unreachable.items()]
    notes += [f"{old.text} resolved as {new.text}" for old, new in requested.items() if old != new]
    return PreparedSet(
        requirement_set.source,
        tuple(new for old, new in requested.items() if old not in excluded),
        tuple(
            _without_local_version(line) if plain_versions else line
            for line in requirement_set.constraints
            if not line.url
        ),
        tuple(url for url in reachable if not _is_page(url)),
        tuple(url for url in reachable if _is_page(url)),
        tuple(dict.fromkeys(ExcludedRequirement(line.name, why) for line, why in excluded.items())),
        tuple(notes),
    )


def _unreachable_reason(line: RequirementLine, web: WebClient) -> str:
    """Why the URL of a requirement cannot be fetched; empty if it can, or if there is no URL."""
    if not line.url:
        return ""
    address = re.sub(r"^\w+\+", "", line.url)
    why = web.why_unreachable(address)
    return f"{without_secrets(address)}: {why}" if why else ""


def _without_local_version(line: RequirementLine) -> RequirementLine:
    return line if line.url else replace(line, text=_LOCAL.sub(r"\1", line.text))


def _is_page(url: str) -> bool:
    """Whether it is a page of links for `--find-links` and not an index."""
    return url.split("?", maxsplit=1)[0].endswith((".html", ".htm"))
