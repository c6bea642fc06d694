"""Splits a port into proposals by owner: the repository, its submodules, and dependencies from git.

A check counts for a proposal only if it covered code of that proposal.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from rocm3d.model.upstream import EditedFile, Proposal
from rocm3d.model.verdict import Level, Verdict

if TYPE_CHECKING:
    from rocm3d.model.patch import FileChange, SubmodulePatch, Patch
    from rocm3d.model.verdict import Verdicts

UNASKED = "not requested"
_BY_UNIT = ("compile", "nvidia")
# A reason about one file starts with its path.
_FILE = re.compile(r"[^\s:]+\.(cu|cuh|cpp|cc|cxx|c|h|hpp|py|txt)\b")


@dataclass(frozen=True)
class Clone:
    """A dependency from git that has a patch in the port's folder; the values come from that patch."""

    name: str
    commit: str
    origin: str
    edited: tuple[EditedFile, ...]
    added: tuple[str, ...]


def proposals(
    patch: Patch,
    verdicts: Verdicts,
    commit: str = "",
    origins: dict[str, str] | None = None,
    clones: Iterable[Clone] = (),
) -> tuple[Proposal, ...]:
    """One proposal per changed repository. `origins` are URLs by submodule path; "" is the repository itself.

    The name comes from the URL if it is known: a checkout may have any folder name.
    """
    others = tuple(item.path for item in patch.modules)
    origin = address((origins or {}).get("", ""))
    own = Proposal(
        name=_last(origin) or patch.repository,
        part="repository",
        origin=origin,
        commit=commit,
        edited=tuple(_edited(item) for item in patch.changes if item.kind == "edited"),
        added=tuple(item.path for item in patch.changes if item.kind == "added"),
        checks=_told(verdicts, lambda text: bool(text) and not any(_is_of(text, path) for path in others)),
    )
    return (
        *([own] if patch.changes else []),
        *(_module(item, verdicts, (origins or {}).get(item.path, "")) for item in patch.modules),
        *(_clone(item) for item in clones),
    )


def changed_lines(diffs: Iterable[tuple[str, bytes]]) -> str:
    """SHA-256 of removed and added lines by file. Independent of the commit and of context lines."""
    found = hashlib.sha256()
    for path, diff in sorted(diffs):
        found.update(b"%s\0" % path.encode("utf-8", "surrogateescape"))
        body = diff[start.start() :] if (start := re.search(rb"^@@ ", diff, re.MULTILINE)) else b""
        found.update(b"".join(re.findall(rb"^[+-][^\n]*\n?", body, re.MULTILINE)))
    return found.hexdigest()


def address(url: str) -> str:
    """The URL of a repository without user name and password; empty for a local path."""
    if re.fullmatch(r"[\w.-]+@[\w.-]+:[\w./~+-]+", url, re.ASCII):
        return url
    match = re.fullmatch(r"(https?|ssh|git)://(?:[^/@\s]*@)?([^\s@]+)", url)
    return f"{match[1]}://{match[2]}" if match else ""


def _last(url: str) -> str:
    """The last part of a URL, without .git."""
    return re.split(r"[/:]", url.rstrip("/"))[-1].removesuffix(".git")


def _module(item: SubmodulePatch, verdicts: Verdicts, url: str) -> Proposal:
    names = {item.name.lower(), item.name.lower().replace("-", "_")}

    def is_mine(text: str) -> bool:
        return _is_of(text, item.path) or text.partition(" ")[0].rstrip(":").lower() in names

    return Proposal(
        name=item.name,
        part="submodule",
        origin=address(url),
        commit=item.commit,
        inside=item.path,
        edited=tuple(_edited(change, f"{item.path}/") for change in item.changes),
        checks=tuple(_from_inside(check, item.path) for check in _told(verdicts, is_mine)),
    )


def edited(path: str, diff: str) -> EditedFile:
    """Counts from the diff alone, without recipes or a proof."""
    lines = diff.partition("\n@@ ")[2].split("\n")[1:]
    return EditedFile(path=path, plus=sum(line[:1] == "+" for line in lines), minus=sum(line[:1] == "-" for line in lines))


def _edited(change: FileChange, inside: str = "") -> EditedFile:
    found = edited(change.path.removeprefix(inside), change.diff)
    return found.model_copy(update={"recipes": change.recipes, "proof": change.proof})


def _from_inside(check: Verdict, path: str) -> Verdict:
    """With paths relative to the submodule."""
    seen = tuple(text.removeprefix(f"{path}/") for text in check.looked_at)
    return check.model_copy(update={"looked_at": seen, "reason": check.reason.replace(f"{path}/", "")})


def _clone(item: Clone) -> Proposal:
    return Proposal(
        name=item.name,
        part="dependency",
        origin=address(item.origin),
        commit=item.commit,
        edited=item.edited,
        added=item.added,
    )


def _told(verdicts: Verdicts, is_mine: Callable[[str], bool]) -> tuple[Verdict, ...]:
    """The checks that apply to one part of a port; levels that were not requested count as not run."""
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for item in verdicts.verdicts:
        groups.setdefault((item.level, item.probe), []).append(item)
    found = [item for group in groups.values() for item in _of_group(group, is_mine)]
    unasked = [level for level in get_args(Level) if level not in {item.level for item in verdicts.verdicts}]
    return (*found, *(Verdict(level=level, probe="any", outcome="not_run", reason=UNASKED) for level in unasked))


def _of_group(group: list[Verdict], is_mine: Callable[[str], bool]) -> list[Verdict]:
    kept = [found for item in group if (found := _kept(item, is_mine)) is not None]
    if kept:
        return kept
    first = next((item for item in group if item.outcome == "passed"), group[0])
    reason = f"{first.outcome.replace('_', ' ')} for other code of the port; this code was not covered"
    return [Verdict(level=first.level, probe=first.probe, outcome="not_run", reason=reason)]


def _kept(item: Verdict, is_mine: Callable[[str], bool]) -> Verdict | None:
    if item.outcome in ("not_run", "skipped"):
        return None if item.level in _BY_UNIT and _FILE.match(item.reason) and not is_mine(item.reason) else item
    # One verdict per compilation unit: the first entry is the unit, the others are its results.
    if item.level in _BY_UNIT:
        about = item.looked_at[0] if item.outcome == "passed" else item.reason
        return item if is_mine(about) else None
    seen = tuple(text for text in item.looked_at if is_mine(text))
    return item.model_copy(update={"looked_at": seen}) if seen or is_mine(item.reason) else None


def _is_of(text: str, path: str) -> bool:
    return text.startswith(f"{path}/")
