"""Splits a port into proposals by owner: the repository, its submodules, and dependencies from git.

A check counts for a proposal only if it covered code of that proposal.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import get_args

from rocm3d.model.patch import FileChange, Patch, SubmodulePatch
from rocm3d.model.upstream import EditedFile, Proposal
from rocm3d.model.verdict import Level, Verdict, Verdicts

NOT_REQUESTED = "not requested"
_BY_UNIT = ("compile", "nvidia")
# A reason about one file starts with its path.
_FILE = re.compile(r"[^\s:]+\.(cu|cuh|cpp|cc|cxx|c|h|hpp|py|txt)\b")


@dataclass(frozen=True)
class PatchedClone:
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
    clones: Iterable[PatchedClone] = (),
) -> tuple[Proposal, ...]:
    """One proposal per changed repository. `origins` are URLs by submodule path; "" is the repository itself.

    The name comes from the URL if it is known: a checkout may have any folder name.
    """
    others = tuple(item.path for item in patch.modules)
    origin = public_address((origins or {}).get("", ""))
    own = Proposal(
        name=_repository_name(origin) or patch.repository,
        part="repository",
        origin=origin,
        commit=commit,
        edited=tuple(_edited_with_proof(item) for item in patch.changes if item.kind == "edited"),
        added=tuple(item.path for item in patch.changes if item.kind == "added"),
        checks=_checks_of_part(verdicts, lambda text: bool(text) and not any(_is_below(text, path) for path in others)),
    )
    return (
        *([own] if patch.changes else []),
        *(_submodule_proposal(item, verdicts, (origins or {}).get(item.path, "")) for item in patch.modules),
        *(_clone_proposal(item) for item in clones),
    )


def changed_lines_digest(diffs: Iterable[tuple[str, bytes]]) -> str:
    """SHA-256 of removed and added lines by file. Independent of the commit and of context lines."""
    digest = hashlib.sha256()
    for path, diff in sorted(diffs):
        digest.update(b"%s\0" % path.encode("utf-8", "surrogateescape"))
        body = diff[start.start() :] if (start := re.search(rb"^@@ ", diff, re.MULTILINE)) else b""
        digest.update(b"".join(re.findall(rb"^[+-][^\n]*\n?", body, re.MULTILINE)))
    return digest.hexdigest()


def public_address(url: str) -> str:
    """The URL of a repository without user name and password; empty for a local path."""
    if re.fullmatch(r"[\w.-]+@[\w.-]+:[\w./~+-]+", url, re.ASCII):
        return url
    match = re.fullmatch(r"(https?|ssh|git)://(?:[^/@\s]*@)?([^\s@]+)", url)
    return f"{match[1]}://{match[2]}" if match else ""


def _repository_name(url: str) -> str:
    """The last part of a URL, without .git."""
    return re.split(r"[/:]", url.rstrip("/"))[-1].removesuffix(".git")


def _submodule_proposal(module: SubmodulePatch, verdicts: Verdicts, url: str) -> Proposal:
    names = {module.name.lower(), module.name.lower().replace("-", "_")}

    def is_mine(text: str) -> bool:
        return _is_below(text, module.path) or text.partition(" ")[0].rstrip(":").lower() in names

    return Proposal(
        name=module.name,
        part="submodule",
        origin=public_address(url),
        commit=module.commit,
        inside=module.path,
        edited=tuple(_edited_with_proof(change, f"{module.path}/") for change in module.changes),
        checks=tuple(_relative_to_submodule(check, module.path) for check in _checks_of_part(verdicts, is_mine)),
    )


def edited_file(path: str, diff: str) -> EditedFile:
    """Counts from the diff alone, without recipes or a proof."""
    lines = diff.partition("\n@@ ")[2].split("\n")[1:]
    return EditedFile(
        path=path, plus=sum(line[:1] == "+" for line in lines), minus=sum(line[:1] == "-" for line in lines)
    )


def _edited_with_proof(change: FileChange, inside: str = "") -> EditedFile:
    counted = edited_file(change.path.removeprefix(inside), change.diff)
    return counted.model_copy(update={"recipes": change.recipes, "proof": change.proof})


def _relative_to_submodule(check: Verdict, path: str) -> Verdict:
    """With paths relative to the submodule."""
    checked = tuple(text.removeprefix(f"{path}/") for text in check.looked_at)
    texts = {"reason": check.reason.replace(f"{path}/", ""), "subject": check.subject.removeprefix(f"{path}/")}
    return check.model_copy(update={"looked_at": checked, **texts})


def _clone_proposal(clone: PatchedClone) -> Proposal:
    return Proposal(
        name=clone.name,
        part="dependency",
        origin=public_address(clone.origin),
        commit=clone.commit,
        edited=clone.edited,
        added=clone.added,
    )


def _checks_of_part(verdicts: Verdicts, is_of_part: Callable[[str], bool]) -> tuple[Verdict, ...]:
    """The checks that apply to one part of a port; levels that were not requested count as not run."""
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for item in verdicts.verdicts:
        groups.setdefault((item.level, item.probe), []).append(item)
    checks = [item for group in groups.values() for item in _checks_of_group(group, is_of_part)]
    not_requested = [level for level in get_args(Level) if level not in {item.level for item in verdicts.verdicts}]
    return (
        *checks,
        *(Verdict(level=level, probe="any", outcome="not_run", reason=NOT_REQUESTED) for level in not_requested),
    )


def _checks_of_group(group: list[Verdict], is_of_part: Callable[[str], bool]) -> list[Verdict]:
    checks = [check for item in group if (check := _check_of_part(item, is_of_part)) is not None]
    if checks:
        return checks
    first = next((item for item in group if item.outcome == "passed"), group[0])
    reason = f"{first.outcome.replace('_', ' ')} for other code of the port; this code was not covered"
    return [Verdict(level=first.level, probe=first.probe, outcome="not_run", reason=reason)]


def _check_of_part(verdict: Verdict, is_of_part: Callable[[str], bool]) -> Verdict | None:
    if verdict.outcome in ("not_run", "skipped"):
        subject = verdict.subject or verdict.reason
        is_other = verdict.level in _BY_UNIT and _FILE.match(subject) and not is_of_part(subject)
        return None if is_other else verdict
    # The verdicts of a compilation unit name it.
    if verdict.level in _BY_UNIT:
        subject = verdict.subject or (verdict.looked_at[0] if verdict.outcome == "passed" else verdict.reason)
        return verdict if is_of_part(subject) else None
    checked = tuple(text for text in verdict.looked_at if is_of_part(text))
    return verdict.model_copy(update={"looked_at": checked}) if checked or is_of_part(verdict.reason) else None


def _is_below(text: str, path: str) -> bool:
    return text.startswith(f"{path}/")
