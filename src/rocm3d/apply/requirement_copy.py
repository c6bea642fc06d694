"""Copies a requirements file without CUDA builds and without packages that install.sh installs itself."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rocm3d.apply.origin import decided, is_cuda_build
from rocm3d.apply.template import one_line
from rocm3d.manifest.requirements import copy_with_replacements

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocm3d.manifest.manifest import ParsedManifest, Mention
    from rocm3d.model.plan import DependencyDecision, Plan

_IGNORE = re.compile(rb"rocm3d:\s*ignore\[")
_NAME = re.compile(r"\s*[\"']?([A-Za-z0-9][\w.-]*)")


@dataclass(frozen=True)
class Copier:
    """`answered_lines` are (path, line) of findings; `source_lines` are lines that install.sh builds itself."""

    decisions: Mapping[str, DependencyDecision]
    answered: frozenset[tuple[str, int]]
    taken: frozenset[tuple[str, int]]

    @classmethod
    def of(cls, plan: Plan, taken: Iterable[tuple[str, int]]) -> Copier:
        """The plan's decision about a name applies to every line with that name, with or without a finding."""
        decisions = {item.name: item for item in plan.decisions}
        answered = frozenset((finding.path, finding.line) for finding in plan.answered)
        return cls(decisions, answered, frozenset(taken))

    def copy(self, requirements: ParsedManifest) -> bytes:
        """The file with decided lines replaced or turned into comments; all other bytes are unchanged."""
        named = {item.line: item for item in requirements.mentions}
        urls = {item.line: item.urls for item in requirements.options}
        lines = requirements.data.splitlines()

        def replace(line: int) -> str | None:
            if _IGNORE.search(lines[line - 1]):
                return None
            if line in urls:
                answered = urls[line] and (requirements.path, line) in self.answered
                return f"# rocm3d: removed: {one_line(' '.join(urls[line]))}" if answered else None
            if line in named:
                return self._mention(requirements.path, named[line])
            return self._unread(lines[line - 1].decode("utf-8", "replace"))

        return copy_with_replacements(requirements, replace)

    def _mention(self, path: str, mention: Mention) -> str | None:
        decision, constraint = decided(mention, self.decisions), is_constraints(path)
        if decision is not None and decision.package is not None and decision.decision != "keep":
            return instead(decision, constraint=constraint)
        if is_cuda_build(mention):
            return f"# rocm3d: removed, a CUDA build without a known ROCm route: {one_line(mention.text)}"
        if (path, mention.line) in self.taken:
            return f"# rocm3d: built by install.sh: {one_line(mention.text)}"
        return None

    def _unread(self, line: str) -> str | None:
        """A line that only pip can read, after expanding a variable: replaced if the plan decides about its name."""
        match = _NAME.match(line)
        decision = self.decisions.get(str(canonicalize_name(match[1]))) if match else None
        if decision is None or decision.package is None or decision.decision == "keep":
            return None
        return instead(decision, constraint=True)


def is_constraints(path: str) -> bool:
    """Whether the file only constrains versions and installs nothing."""
    return PurePosixPath(path).name.lower().startswith("constraint")


def is_inline(item: DependencyDecision) -> bool:
    """Whether a package of another name from the default index replaces it, without further commands."""
    return item.decision == "replace" and bool(item.requirement) and not (item.index or item.commands)


def instead(item: DependencyDecision, *, constraint: bool = False) -> str:
    """The copy's line for a decided package: its replacement, or a comment with the decision."""
    if is_inline(item) and not constraint:
        return f"{item.requirement}  # rocm3d: instead of {item.name}"
    commands = "" if constraint else "".join(f"\n#   {one_line(shlex.join(command))}" for command in item.commands)
    return f"# rocm3d: {item.name}: {item.decision}: {one_line(item.reason)}{commands}"
