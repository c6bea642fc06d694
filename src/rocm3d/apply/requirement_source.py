"""Required packages: where their code comes from, their plan decisions, and their lines in copies of the files."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NewType
from urllib.parse import unquote

from packaging.utils import canonicalize_name

from rocm3d.apply.template import one_line
from rocm3d.manifest.git_checkout import GitCheckout, parse_git_checkout
from rocm3d.manifest.install_line import distribution_name
from rocm3d.manifest.manifest import Mention, ParsedManifest
from rocm3d.manifest.requirements import copy_with_replacements, is_constraints
from rocm3d.model.credentials import has_credentials, without_credentials
from rocm3d.model.plan import DependencyDecision, Plan

# The packages that nothing may replace: no install step, and no dependency of a package.
PROTECTED_PACKAGES = ("torch", "torchvision", "torchaudio", "triton")

_CUDA_VERSION = re.compile(r"[+/_-](?:pt\d+)?cu\d{2,3}\b")
_IGNORE = re.compile(rb"rocm3d:\s*ignore\[")
_NAME = re.compile(r"\s*[\"']?([A-Za-z0-9][\w.-]*)")
# pip accepts abbreviations of an option.
_ADDITIONAL_INDEX = re.compile(r"(?:^|\s)--e(?:x[a-z-]*)?(?=[=\s]|$)[=\s]*", re.IGNORECASE)


Folder = NewType("Folder", str)
"""The path of a folder of the repository; `.` is the repository itself."""
SourceLocation = GitCheckout | Folder
"""Where code to build lies."""


def local_path(address: str) -> str | None:
    """The folder that a URL or path names, relative to where the installer runs; None if it is not a folder."""
    path = address.removeprefix("file:") if not address.startswith("file://") else ""
    path = re.sub(r"\[[^\]]*\]$", "", path)
    if (
        not path
        or "://" in path
        or "$" in path
        or path.startswith(("git+", "git@"))
        or path.endswith((".whl", ".tar.gz", ".zip"))
    ):
        return None
    return posixpath.normpath(path)


def is_cuda_build(mention: Mention) -> bool:
    """Whether the version or the URL names a CUDA release, as in `+cu121`."""
    return _CUDA_VERSION.search(f"{mention.version} {unquote(mention.url)}") is not None


def find_decision(mention: Mention, decisions: Mapping[str, DependencyDecision]) -> DependencyDecision | None:
    """The plan's decision about a mention. For a path or URL every part is tried, since the last one can be anything:
    a folder `torch` with bindings for torch is not torch."""
    matching = [decisions[name] for name in _candidate_names(mention) if name in decisions]
    known = [item for item in matching if item.package is not None]
    return next((item for item in known if item.name not in PROTECTED_PACKAGES), None) or next(
        iter(known or matching), None
    )


def _candidate_names(mention: Mention) -> Iterator[str]:
    yield str(canonicalize_name(mention.name))
    if not mention.url or mention.url.endswith(".whl"):
        return
    source, path = parse_git_checkout(mention.url), mention.url.partition("#")[0]
    if source is not None:
        parts = [*reversed(source.folder.split("/")), source.name]
    else:
        parts = [distribution_name(path)] if "://" in path or path.startswith("git@") else [*reversed(path.split("/"))]
    yield from (str(canonicalize_name(part)) for part in parts if part not in ("", ".", ".."))


@dataclass(frozen=True)
class RequirementsCopier:
    """Copies requirements files without CUDA builds and without packages that install.sh installs itself.

    `answered_lines` are (path, line) of findings; `source_lines` are lines that install.sh builds itself;
    `index_lines` are those of indexes that are not known to be public.
    """

    decisions: Mapping[str, DependencyDecision]
    answered_lines: frozenset[tuple[str, int]]
    source_lines: frozenset[tuple[str, int]]
    index_lines: frozenset[tuple[str, int]] = frozenset()

    @classmethod
    def from_plan(cls, plan: Plan, source_lines: Iterable[tuple[str, int]]) -> RequirementsCopier:
        """The plan's decision about a name applies to every line with that name, with or without a finding."""
        decisions = {item.name: item for item in plan.decisions}
        answered = frozenset((finding.path, finding.line) for finding in plan.answered)
        indexes = frozenset((index.location.path, index.location.line) for index in plan.other_indexes)
        return cls(decisions, answered, frozenset(source_lines), indexes)

    def copy(self, requirements: ParsedManifest) -> bytes:
        """The file with decided lines replaced or turned into comments; all other bytes are unchanged."""
        mentions = {item.line: item for item in requirements.mentions}
        urls = {item.line: item.urls for item in requirements.options}
        additional = {item.line for item in requirements.options if item.additional}
        lines = requirements.data.splitlines()

        def replace(line: int) -> str | None:
            position = (requirements.path, line)
            if urls.get(line) and (position in self.index_lines or has_credentials(" ".join(urls[line]))):
                return f"# rocm3d: removed: {one_line(without_credentials(' '.join(urls[line])))}"
            if line in additional:
                why = "removed" if position in self.answered_lines else "not used, each package comes from one index"
                return f"# rocm3d: {why}: {one_line(' '.join(urls[line]))}"
            mention = mentions.get(line)
            left = None if mention is None else self._left_out(mention)
            if left is not None or _IGNORE.search(lines[line - 1]):
                return left
            if line in urls:
                answered = urls[line] and position in self.answered_lines
                return f"# rocm3d: removed: {one_line(' '.join(urls[line]))}" if answered else None
            if mention is not None:
                return self._replace_mention(requirements.path, mention)
            return self._replace_unparsed(lines[line - 1].decode("utf-8", "replace"))

        return _without_credentials(copy_with_replacements(requirements, replace))

    def _left_out(self, mention: Mention) -> str | None:
        """The comment for a line that no copy may have: PyPI could answer for it, or its URL has credentials."""
        text = one_line(without_credentials(mention.text))
        if has_credentials(mention.text):
            return f"# rocm3d: left for you, the URL has credentials: {text}"
        decision = self.decisions.get(str(canonicalize_name(mention.name)))
        if mention.url:
            return None
        if decision is None and self.index_lines:
            return f"# rocm3d: left for you, not in the plan and an index of the repository may serve it: {text}"
        if decision is not None and decision.is_of_other_index:
            return f"# rocm3d: {one_line(decision.reason)}: {text}"
        return None

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
        if decision is not None and decision.is_of_other_index:
            return f"# rocm3d: {one_line(decision.reason)}: {one_line(without_credentials(line))}"
        if decision is not None and decision.package is not None and decision.decision != "keep":
            return replacement_line(decision, constraint=True)
        if _ADDITIONAL_INDEX.search(line):
            text = one_line(without_credentials(_ADDITIONAL_INDEX.sub(" index ", line)))
            return f"# rocm3d: left for you, pip cannot read it: {text}"
        return None


def _without_credentials(data: bytes) -> bytes:
    """A copy without the credentials that comments and lines that pip cannot read may have."""
    if b"://" not in data:
        return data
    text = data.decode("utf-8", "surrogateescape")
    return without_credentials(text).encode("utf-8", "surrogateescape") if has_credentials(text) else data


def is_index_replacement(decision: DependencyDecision) -> bool:
    """Whether a package of another name from the default index replaces it, without further commands."""
    return decision.decision == "replace" and bool(decision.requirement) and not (decision.index or decision.commands)


def replacement_line(decision: DependencyDecision, *, constraint: bool = False) -> str:
    """The copy's line for a decided package: its replacement, or a comment with the decision."""
    if is_index_replacement(decision) and not constraint:
        return f"{decision.requirement}  # rocm3d: instead of {decision.name}"
    commands = "" if constraint else "".join(f"\n#   {one_line(shlex.join(command))}" for command in decision.commands)
    return f"# rocm3d: {decision.name}: {decision.decision}: {one_line(decision.reason)}{commands}"
