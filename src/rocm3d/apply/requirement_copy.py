"""Copies a requirements file without CUDA builds and without packages that install.sh installs itself."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from packaging.utils import canonicalize_name

from rocm3d.apply.requirement_source import find_decision, is_cuda_build
from rocm3d.apply.template import one_line
from rocm3d.manifest.manifest import Mention, ParsedManifest
from rocm3d.manifest.requirements import copy_with_replacements
from rocm3d.model.plan import DependencyDecision, Plan

_IGNORE = re.compile(rb"rocm3d:\s*ignore\[")
_NAME = re.compile(r"\s*[\"']?([A-Za-z0-9][\w.-]*)")


@dataclass(frozen=True)
class RequirementsCopier:
    """`answered_lines` are (path, line) of findings; `source_lines` are lines that install.sh builds itself."""

    decisions: Mapping[str, DependencyDecision]
    answered_lines: frozenset[tuple[str, int]]
    source_lines: frozenset[tuple[str, int]]

    @classmethod
    def from_plan(cls, plan: Plan, source_lines: Iterable[tuple[str, int]]) -> RequirementsCopier:
        """The plan's decision about a name applies to every line with that name, with or without a finding."""
        decisions = {item.name: item for item in plan.decisions}
        answered = frozenset((finding.path, finding.line) for finding in plan.answered)
        return cls(decisions, answered, frozenset(source_lines))

    def copy(self, requirements: ParsedManifest) -> bytes:
        """The file with decided lines replaced or turned into comments; all other bytes are unchanged."""
        mentions = {item.line: item for item in requirements.mentions}
        urls = {item.line: item.urls for item in requirements.options}
        lines = requirements.data.splitlines()

        def replace(line: int) -> str | None:
            if _IGNORE.search(lines[line - 1]):
                return None
            if line in urls:
                answered = urls[line] and (requirements.path, line) in self.answered_lines
                return f"# rocm3d: removed: {one_line(' '.join(urls[line]))}" if answered else None
            if line in mentions:
                return self._replace_mention(requirements.path, mentions[line])
            return self._replace_unparsed(lines[line - 1].decode("utf-8", "replace"))

        return copy_with_replacements(requirements, replace)

    def _replace_mention(self, path: str, mention: Mention) -> str | None:
        decision, constraint = find_decision(mention, self.decisions), is_constraints(path)
        if decision is not None and decision.package is not None and decision.decision != "keep":
            return replacement_line(decision, constraint=constraint)
        if is_cuda_build(mention):
            return f"# rocm3d: removed, a CUDA build without a known ROCm route: {one_line(mention.text)}"
        if (path, mention.line) in self.source_lines:
            return f"# rocm3d: built by install.sh: {one_line(mention.text)}"
        return None

    def _replace_unparsed(self, line: str) -> str | None:
        """A line that only pip can read, after expanding a variable: replaced if the plan decides about its name."""
        match = _NAME.match(line)
        decision = self.decisions.get(str(canonicalize_name(match[1]))) if match else None
        if decision is None or decision.package is None or decision.decision == "keep":
            return None
        return replacement_line(decision, constraint=True)


def is_constraints(path: str) -> bool:
    """Whether the file only constrains versions and installs nothing."""
    return PurePosixPath(path).name.lower().startswith("constraint")


def is_index_replacement(decision: DependencyDecision) -> bool:
    """Whether a package of another name from the default index replaces it, without further commands."""
    return decision.decision == "replace" and bool(decision.requirement) and not (decision.index or decision.commands)


def replacement_line(decision: DependencyDecision, *, constraint: bool = False) -> str:
    """The copy's line for a decided package: its replacement, or a comment with the decision."""
    if is_index_replacement(decision) and not constraint:
        return f"{decision.requirement}  # rocm3d: instead of {decision.name}"
    commands = "" if constraint else "".join(f"\n#   {one_line(shlex.join(command))}" for command in decision.commands)
    return f"# rocm3d: {decision.name}: {decision.decision}: {one_line(decision.reason)}{commands}"
