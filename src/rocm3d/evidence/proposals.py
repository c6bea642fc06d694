"""A port, parted by whom each part is for: the repository itself, its submodules, and dependencies from git.

What a check looked at decides what it says of a part. A pass that did not name the part's code is no pass for it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from rocm3d.model.upstream import Edited, Proposal
from rocm3d.model.verdict import Level, Verdict

if TYPE_CHECKING:
    from rocm3d.model.patch import FileChange, ModulePatch, Patch
    from rocm3d.model.verdict import Verdicts

UNASKED = "nobody asked for it"
_BY_UNIT = ("compile", "nvidia")
# A reason that is about one file begins with it.
_FILE = re.compile(r"[^\s:]+\.(cu|cuh|cpp|cc|cxx|c|h|hpp|py|txt)\b")


@dataclass(frozen=True)
class Clone:
    """A dependency from git that has a patch in the port's folder, as that patch tells it."""

    name: str
    commit: str
    origin: str
    edited: tuple[Edited, ...]
    added: tuple[str, ...]


def proposals(
    patch: Patch,
    verdicts: Verdicts,
    commit: str = "",
    origins: dict[str, str] | None = None,
    clones: Iterable[Clone] = (),
) -> tuple[Proposal, ...]:
    """One for each repository that is changed. `origins` are addresses by paths of submodules; its own has none.

    A copy may have any name; where its address is known, that tells how the repository is called.
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
    """SHA-256 of what a change takes away and adds, by file: the same at another commit, whatever stands around it."""
    found = hashlib.sha256()
    for path, diff in sorted(diffs):
        found.update(b"%s\0" % path.encode("utf-8", "surrogateescape"))
        body = diff[start.start() :] if (start := re.search(rb"^@@ ", diff, re.MULTILINE)) else b""
        found.update(b"".join(re.findall(rb"^[+-][^\n]*\n?", body, re.MULTILINE)))
    return found.hexdigest()


def address(url: str) -> str:
    """The address of a repository without anybody's name or password; empty for a place on a disk."""
    if re.fullmatch(r"[\w.-]+@[\w.-]+:[\w./~+-]+", url, re.ASCII):
        return url
    match = re.fullmatch(r"(https?|ssh|git)://(?:[^/@\s]*@)?([^\s@]+)", url)
    return f"{match[1]}://{match[2]}" if match else ""


def _last(url: str) -> str:
    """The name of a repository by its address."""
    return re.split(r"[/:]", url.rstrip("/"))[-1].removesuffix(".git")


def _module(item: ModulePatch, verdicts: Verdicts, url: str) -> Proposal:
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


def edited(path: str, diff: str) -> Edited:
    """A file by its diff alone: nothing is known of why, and nothing is proven."""
    lines = diff.partition("\n@@ ")[2].split("\n")[1:]
    return Edited(path=path, plus=sum(line[:1] == "+" for line in lines), minus=sum(line[:1] == "-" for line in lines))


def _edited(change: FileChange, inside: str = "") -> Edited:
    found = edited(change.path.removeprefix(inside), change.diff)
    return found.model_copy(update={"recipes": change.recipes, "proof": change.proof})


def _from_inside(check: Verdict, path: str) -> Verdict:
    """Paths as the submodule's own people know them."""
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
    """What the checks of a port say of one part of it; a level that nobody asked for is one that was not run."""
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
    reason = f"{first.outcome.replace('_', ' ')} for other code of the port, and did not look at this"
    return [Verdict(level=first.level, probe=first.probe, outcome="not_run", reason=reason)]


def _kept(item: Verdict, is_mine: Callable[[str], bool]) -> Verdict | None:
    if item.outcome in ("not_run", "skipped"):
        return None if item.level in _BY_UNIT and _FILE.match(item.reason) and not is_mine(item.reason) else item
    # One verdict for each unit: its first word is the unit, the others are what came of it.
    if item.level in _BY_UNIT:
        about = item.looked_at[0] if item.outcome == "passed" else item.reason
        return item if is_mine(about) else None
    seen = tuple(text for text in item.looked_at if is_mine(text))
    return item.model_copy(update={"looked_at": seen}) if seen or is_mine(item.reason) else None


def _is_of(text: str, path: str) -> bool:
    return text.startswith(f"{path}/")
