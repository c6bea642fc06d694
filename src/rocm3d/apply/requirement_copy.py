"""One requirements file without what brings CUDA back, and without what install.sh puts in place itself."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rocm3d.apply.origin import decided, is_cuda_build
from rocm3d.apply.template import one_line
from rocm3d.manifest.requirements import copy_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocm3d.manifest.manifest import Manifest, Mention
    from rocm3d.model.plan import DependencyDecision, Plan

_IGNORE = re.compile(rb"rocm3d:\s*ignore\[")
_NAME = re.compile(r"\s*[\"']?([A-Za-z0-9][\w.-]*)")


@dataclass(frozen=True)
class Copier:
    """What decides about a line. `answered` are places of findings, `taken` lines that install.sh installs itself."""

    decisions: Mapping[str, DependencyDecision]
    answered: frozenset[tuple[str, int]]
    taken: frozenset[tuple[str, int]]

    @classmethod
    def of(cls, plan: Plan, taken: Iterable[tuple[str, int]]) -> Copier:
        """By the plan alone: a name that it decides about is decided wherever it stands, found or not."""
        decisions = {item.name: item for item in plan.decisions}
        answered = frozenset((finding.path, finding.line) for finding in plan.answered)
        return cls(decisions, answered, frozenset(taken))

    def copy(self, requirements: Manifest) -> bytes:
        """The file with its decided lines turned into comments or replacements; all other bytes stay."""
        named = {item.line: item for item in requirements.mentions}
        urls = {item.line: item.urls for item in requirements.options}
        lines = requirements.data.splitlines()

        def replace(line: int) -> str | None:
            if _IGNORE.search(lines[line - 1]):
                return None
            if line in urls:
                answered = urls[line] and (requirements.path, line) in self.answered
                return f"# rocm3d: left out: {one_line(' '.join(urls[line]))}" if answered else None
            if line in named:
                return self._mention(requirements.path, named[line])
            return self._unread(lines[line - 1].decode("utf-8", "replace"))

        return copy_with(requirements, replace)

    def _mention(self, path: str, mention: Mention) -> str | None:
        decision, constraint = decided(mention, self.decisions), is_constraints(path)
        if decision is not None and decision.package is not None and decision.decision != "keep":
            return instead(decision, constraint=constraint)
        if is_cuda_build(mention):
            return f"# rocm3d: left out, a CUDA build without a known way to ROCm: {one_line(mention.text)}"
        if (path, mention.line) in self.taken:
            return f"# rocm3d: install.sh fetches and builds it: {one_line(mention.text)}"
        return None

    def _unread(self, line: str) -> str | None:
        """pip may understand what we do not, once a variable is filled in; a decided name does not get that far."""
        match = _NAME.match(line)
        decision = self.decisions.get(str(canonicalize_name(match[1]))) if match else None
        if decision is None or decision.package is None or decision.decision == "keep":
            return None
        return instead(decision, constraint=True)


def is_constraints(path: str) -> bool:
    """Whether a file bounds versions and installs nothing."""
    return PurePosixPath(path).name.lower().startswith("constraint")


def is_inline(item: DependencyDecision) -> bool:
    """Whether another name from the default index is all there is to it."""
    return item.decision == "replace" and bool(item.requirement) and not (item.index or item.commands)


def instead(item: DependencyDecision, *, constraint: bool = False) -> str:
    """What stands in the copy for a decided line: the replacement, or a comment that says what happens to it."""
    if is_inline(item) and not constraint:
        return f"{item.requirement}  # rocm3d: instead of {item.name}"
    commands = "" if constraint else "".join(f"\n#   {one_line(shlex.join(command))}" for command in item.commands)
    return f"# rocm3d: {item.name}: {item.decision}: {one_line(item.reason)}{commands}"
