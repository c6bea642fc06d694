"""Everything the repository needs installed: requirements files, single requirements, git clones and own folders.

Only manifests in the top folder count. A manifest in a deeper folder may belong to another program and is ignored.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rocm3d.apply.installable_folders import InstallableFolders
from rocm3d.apply.requirement_source import (
    Folder,
    SourceLocation,
    find_decision,
    is_cuda_build,
    is_index_replacement,
    local_path,
)
from rocm3d.apply.template import one_line
from rocm3d.manifest.git_checkout import GitCheckout, git_checkout
from rocm3d.manifest.manifest import Mention, ParsedManifest, read_manifests
from rocm3d.manifest.requirements import KIND, is_constraints, is_requirements, read
from rocm3d.manifest.version_ranges import pip_specifier
from rocm3d.model.credentials import has_credentials, without_credentials
from rocm3d.model.plan import DependencyDecision, Plan
from rocm3d.workspace.tree import Tree

# Precedence of manifests when two name the same distribution.
_KIND_ORDER = (
    KIND, "pyproject", "setup_py", "setup_cfg", "pipfile", "cog",
    "conda", "shell", "docker", "python_script", "markdown",
)  # fmt: skip
_PROJECT_KINDS = frozenset({"pyproject", "setup_py", "setup_cfg"})
_IMPORT = re.compile(rb"^[ \t]*(?:import|from)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_MAX_SHOWN = 8
_INSTALLERS = frozenset({"python", "pip", "setuptools", "wheel", "conda", "uv"})


@dataclass(frozen=True)
class SourceRequirement:
    """Code to build: a git clone, or a folder of the repository, with its extras and editable flag."""

    location: SourceLocation
    extras: frozenset[str] = frozenset()
    editable: bool = False


@dataclass
class RepositoryRequirements:
    """`files` are requirements files; `source_lines` are their lines (path, line) that become `sources`.

    `by_name` maps further distributions to a requirement and its origin. `package_locations` maps packages with a plan
    decision to their code in the repository. `unhashed` maps names that pip fetches without a hash to their place.
    `of_other_indexes` are names that the plan takes from another index than
    PyPI, or leaves for a person. `not_installed` has one sentence for each requirement that is left out.
    """

    files: tuple[str, ...] = ()
    source_lines: set[tuple[str, int]] = field(default_factory=set)
    by_name: dict[str, tuple[str, str]] = field(default_factory=dict)
    sources: dict[SourceLocation, SourceRequirement] = field(default_factory=dict)
    package_locations: dict[str, SourceLocation] = field(default_factory=dict)
    unhashed: dict[str, str] = field(default_factory=dict)
    of_other_indexes: set[str] = field(default_factory=set)
    not_installed: list[str] = field(default_factory=list)


def repository_requirements(plan: Plan, tree: Tree) -> RepositoryRequirements:
    """All requirements except those that the plan's routes install."""
    answered = frozenset((finding.path, finding.line) for finding in plan.answered)
    collector = _Collector(tree, {item.name: item for item in plan.decisions}, answered, bool(plan.other_indexes))
    manifests = list(_manifests(tree, ""))
    collector.collect_files(manifests)
    collector.collect_mentions(manifests)
    if collector.folders.is_project:
        collector.result.sources.setdefault(Folder("."), SourceRequirement(Folder("."), editable=True))
    for folder in [item for item in collector.result.sources if isinstance(item, str) and item != "."]:
        collector.collect_mentions([unit for unit in _manifests(tree, folder) if unit.kind in _PROJECT_KINDS])
    collector.finish()
    return collector.result


def _manifests(tree: Tree, folder: str) -> Iterator[ParsedManifest]:
    """Manifests directly in a folder, without requirements files, which `included_files` reads."""
    for path in tree.paths():
        if posixpath.dirname(path) == folder and not is_requirements(path):
            yield from read_manifests(path, tree.read, _KIND_ORDER.__contains__)


@dataclass
class _Collector:
    tree: Tree
    decisions: Mapping[str, DependencyDecision]
    answered_lines: frozenset[tuple[str, int]] = frozenset()
    has_other_indexes: bool = False
    result: RepositoryRequirements = field(default_factory=RepositoryRequirements)
    listed_names: set[str] = field(default_factory=set)
    conda_only: dict[str, list[str]] = field(default_factory=dict)
    has_pip_requirements: bool = False

    def __post_init__(self) -> None:
        self.folders = InstallableFolders(self.tree)

    def collect_files(self, manifests: list[ParsedManifest]) -> None:
        """The top-level requirements.txt; without one, the files that other manifests include with -r."""
        included = [name for unit in manifests for option in unit.options for name in option.includes]
        files = ["requirements.txt"] if "requirements.txt" in self.tree else list(map(posixpath.normpath, included))
        self.result.files = tuple(dict.fromkeys(path for path in files if self._is_file(path)))
        for path, unit in included_files(self.tree, self.result.files).items():
            if unit is None:
                self.result.not_installed.append(f"{path} is not a text file: nothing in it is installed")
                continue
            self._report_additional_indexes(unit)
            if not is_constraints(path):
                self.listed_names |= {str(canonicalize_name(item.name)) for item in unit.mentions if not item.url}
                manifests.append(unit)

    def _report_additional_indexes(self, unit: ParsedManifest) -> None:
        """An index besides PyPI could answer for any name, so the copies have none."""
        for option in unit.options:
            if option.additional and (unit.path, option.line) not in self.answered_lines:
                urls = one_line(without_credentials(" ".join(option.urls)))
                self.result.not_installed.append(
                    f"{unit.path}:{option.line}: index {urls} is not used: what only it has is not installed"
                )

    def _is_file(self, path: str) -> bool:
        return path in self.tree and is_requirements(path) and one_line(path) == path

    def collect_mentions(self, manifests: list[ParsedManifest]) -> None:
        """All mentions, in order of precedence."""
        for unit in sorted(manifests, key=lambda unit: (_KIND_ORDER.index(unit.kind), unit.path)):
            if unit.kind == "conda":
                self.has_pip_requirements = bool(self.result.files or self.result.by_name)
            for mention in unit.mentions:
                self._collect_mention(unit, mention)

    def _collect_mention(self, unit: ParsedManifest, mention: Mention) -> None:
        if not mention.is_installed or "$" in mention.text:
            return
        decision = find_decision(mention, self.decisions)
        if self._is_left_out(unit, mention, decision):
            return
        source = self._source_location(mention)
        if decision is not None and decision.package is not None and decision.decision != "keep":
            if source is not None:
                self.result.package_locations.setdefault(decision.name, source)
        elif source is not None:
            if isinstance(source, GitCheckout) and unit.kind == "markdown":
                return  # documentation lists commands that people may type, not requirements
            if not (";" in mention.text or " --" in mention.text):  # pip must read conditions and options
                editable = mention.text.lstrip().startswith(("-e", "--editable"))
                self.result.sources.setdefault(source, SourceRequirement(source, mention.extras, editable))
                self.result.source_lines |= {(unit.path, mention.line)}
        elif unit.kind != KIND and local_path(mention.url) is None:
            self._collect_name(unit, mention, decision)
        elif unit.kind == KIND and " --hash" not in mention.text and not is_cuda_build(mention):
            self.result.unhashed.setdefault(one_line(mention.name), f"{unit.path}:{mention.line}")

    def _is_left_out(self, unit: ParsedManifest, mention: Mention, decision: DependencyDecision | None) -> bool:
        """Whether PyPI could answer for the name, or the URL has credentials."""
        where = f"{unit.path}:{mention.line}: {one_line(without_credentials(mention.text))}"
        if has_credentials(mention.url):
            self.result.not_installed.append(f"{where}: its URL has credentials")
        elif mention.url:
            return False
        elif decision is not None and decision.is_of_other_index:
            self.result.of_other_indexes |= {decision.name} if unit.kind != "markdown" else set()
        elif decision is None and self.has_other_indexes and unit.kind == KIND:
            self.result.not_installed.append(f"{where}: not in the plan; an index of the repository may serve it")
        else:
            return False
        return True

    def finish(self) -> None:
        """Add substitutes of packages that no requirements file names, and report names found only for conda."""
        for decision in self.decisions.values():
            if is_index_replacement(decision) and decision.name not in self.listed_names:
                self.result.by_name[decision.name] = decision.requirement, f"instead of {decision.name}"
        for path, names in self.conda_only.items():
            more = f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else ""
            self.result.not_installed.append(
                f"{path} lists {', '.join(names[:_MAX_SHOWN])}{more} for conda; the names on PyPI may differ"
            )

    def _source_location(self, mention: Mention) -> SourceLocation | None:
        """The clone or folder that a mention installs; None for a package of an index."""
        checkout, path = git_checkout(mention.url), local_path(mention.url)
        if checkout is not None and canonicalize_name(checkout.name) == canonicalize_name(self.tree.name):
            return Folder(".") if self.folders.is_project else None
        if checkout is not None or path is None:
            return checkout
        folder = self.folders.resolve(path)
        return None if folder is None else Folder(folder)

    @cached_property
    def _imported_names(self) -> frozenset[str]:
        """Modules that the program imports: for these, conda's name is very likely the name on PyPI as well."""
        files = (self.tree.read(path) or b"" for path in self.tree.paths() if path.endswith(".py"))
        names = {match.decode() for data in files for match in _IMPORT.findall(data)}
        return frozenset(str(canonicalize_name(name)) for name in names)

    def _collect_name(self, unit: ParsedManifest, mention: Mention, decision: DependencyDecision | None) -> None:
        name, where = str(canonicalize_name(mention.name)), f"{unit.path}:{mention.line}"
        if name in self.listed_names or name in _INSTALLERS or not name:
            return
        self.listed_names.add(name)
        if decision is None and unit.kind == "markdown":
            return
        if decision is None:
            self.result.not_installed.append(f"{where}: {one_line(mention.text)}: not in the plan")
        elif is_cuda_build(mention):
            self.result.not_installed.append(
                f"{where}: {one_line(mention.text)}: a CUDA build without a known ROCm route"
            )
        elif not mention.section.endswith("conda"):
            self.result.by_name[name] = pip_requirement(mention), where
        elif not self.has_pip_requirements and unit.kind != "markdown":
            self._collect_conda_name(unit, mention, name)

    def _collect_conda_name(self, unit: ParsedManifest, mention: Mention, name: str) -> None:
        """Take a conda name for a PyPI name only if the program imports it and no other manifest lists requirements.

        A pin to a build (two `=`) records somebody's environment and is not a requirement.
        """
        if mention.version.count("=") < 2 and name in self._imported_names:
            self.result.by_name[name] = pip_requirement(mention), f"{unit.path}:{mention.line}, conda name"
        else:
            self.conda_only.setdefault(unit.path, []).append(name)


def included_files(tree: Tree, files: tuple[str, ...]) -> dict[str, ParsedManifest | None]:
    """Requirements files and the files they include with -r or -c; None for a file that is not text."""
    manifests: dict[str, ParsedManifest | None] = {}
    pending = list(files)
    while pending:
        path = pending.pop(0)
        if path in manifests or path not in tree:
            continue
        data = tree.read(path)
        manifests[path] = unit = None if data is None or b"\0" in data else read(path, data)
        for option in unit.options if unit is not None else ():
            folder = posixpath.dirname(path)
            pending += [posixpath.normpath(posixpath.join(folder, name)) for name in option.includes]
    return manifests


def pip_requirement(mention: Mention) -> str:
    """The mention's own text if it is a valid requirement; else its name, extras and translated version."""
    try:
        parsed = Requirement(mention.text)
        parsed.extras |= mention.extras  # other tools list extras separately from the name
        return str(parsed)
    except InvalidRequirement:
        if "://" in mention.url:
            return f"{mention.name} @ {mention.url}"
    extras = f"[{','.join(sorted(mention.extras))}]" if mention.extras else ""
    return f"{mention.name}{extras}{pip_specifier(mention.version.strip())}"
