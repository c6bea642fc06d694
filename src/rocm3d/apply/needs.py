"""Everything the repository needs installed: requirements files, single requirements, git clones and own folders.

Only manifests in the top folder count. A manifest in a deeper folder may belong to another program and is ignored.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rocm3d.apply.folders import Folders
from rocm3d.apply.origin import Checkout, checkout, decided, is_cuda_build, local_path
from rocm3d.apply.requirement_copy import is_constraints, is_inline
from rocm3d.apply.requirement_text import requirement
from rocm3d.apply.template import one_line
from rocm3d.manifest.manifest import ParsedManifest, Mention, manifest_readers
from rocm3d.manifest.pipfile import CATEGORY_SECTION
from rocm3d.manifest.requirements import KIND, is_requirements, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rocm3d.model.plan import DependencyDecision, Plan
    from rocm3d.workspace.tree import Tree

# Precedence of manifests when two name the same distribution.
_KINDS = (
    KIND, "pyproject", "setup_py", "setup_cfg", "pipfile", "cog",
    "conda", "shell", "docker", "python_script", "markdown",
)  # fmt: skip
_PROJECT = frozenset({"pyproject", "setup_py", "setup_cfg"})
_NOT_TO_RUN = frozenset(
    {"build-system", "optional", "setup_requires", "tests_require", "extras_require", "hatch", "pdm", "uv", CATEGORY_SECTION}
)
_IMPORT = re.compile(rb"^[ \t]*(?:import|from)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_SHOWN = 8
_INSTALLERS = frozenset({"python", "pip", "setuptools", "wheel", "conda", "uv"})


@dataclass(frozen=True)
class Source:
    """Code to build: a git clone, or a folder of the repository, with its extras and editable flag."""

    what: Checkout | str
    extras: frozenset[str] = frozenset()
    editable: bool = False


@dataclass
class Needs:
    """`files` are requirements files; `source_lines` are their lines (path, line) that become `sources`.

    `by_name` maps further distributions to a requirement and its origin. `package_locations` maps packages with a plan
    decision to their code in the repository. `not_installed` has one sentence for each requirement that is left out.
    """

    files: tuple[str, ...] = ()
    taken: set[tuple[str, int]] = field(default_factory=set)
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    sources: dict[Checkout | str, Source] = field(default_factory=dict)
    paths: dict[str, Checkout | str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


def needs(plan: Plan, tree: Tree) -> Needs:
    """All requirements except those that the plan's routes install."""
    reading = _Reading(tree, {item.name: item for item in plan.decisions})
    manifests = list(_manifests(tree, ""))
    reading.take_files(manifests)
    reading.take_all(manifests)
    if reading.folders.is_project:
        reading.found.sources.setdefault(".", Source(".", editable=True))
    for folder in [item for item in reading.found.sources if isinstance(item, str) and item != "."]:
        reading.take_all([unit for unit in _manifests(tree, folder) if unit.kind in _PROJECT])
    reading.finish()
    return reading.found


def _manifests(tree: Tree, folder: str) -> Iterator[ParsedManifest]:
    """Manifests directly in a folder, without requirements files, which `included_files` reads."""
    for path in tree.paths():
        data = tree.read(path) if posixpath.dirname(path) == folder and not is_requirements(path) else None
        if data is None or b"\0" in data:
            continue
        for reader in manifest_readers():
            if reader.kind in _KINDS and reader.matches(path) and all(word in data for word in reader.required_bytes):
                yield reader.read(path, data)


@dataclass
class _Reading:
    tree: Tree
    decisions: Mapping[str, DependencyDecision]
    found: Needs = field(default_factory=Needs)
    listed: set[str] = field(default_factory=set)
    conda: dict[str, list[str]] = field(default_factory=dict)
    described: bool = False

    def __post_init__(self) -> None:
        self.folders = Folders(self.tree)

    def take_files(self, manifests: list[ParsedManifest]) -> None:
        """The top-level requirements.txt; without one, the files that other manifests include with -r."""
        named = [name for unit in manifests for option in unit.options for name in option.includes]
        files = ["requirements.txt"] if "requirements.txt" in self.tree else list(map(posixpath.normpath, named))
        self.found.files = tuple(dict.fromkeys(path for path in files if self._is_file(path)))
        for path, unit in closure(self.tree, self.found.files).items():
            if unit is None:
                self.found.left.append(f"{path} is not a text file: nothing in it is installed")
                continue
            if not is_constraints(path):
                self.listed |= {str(canonicalize_name(item.name)) for item in unit.mentions if not item.url}
                manifests.append(unit)

    def _is_file(self, path: str) -> bool:
        return path in self.tree and is_requirements(path) and one_line(path) == path

    def take_all(self, manifests: list[ParsedManifest]) -> None:
        """All mentions, in order of precedence."""
        for unit in sorted(manifests, key=lambda unit: (_KINDS.index(unit.kind), unit.path)):
            if unit.kind == "conda":
                self.described = bool(self.found.files or self.found.names)
            for mention in unit.mentions:
                self._take(unit, mention)

    def _take(self, unit: ParsedManifest, mention: Mention) -> None:
        if mention.section.split(":")[0] in _NOT_TO_RUN or "$" in mention.text:
            return
        decision = decided(mention, self.decisions)
        source = self._source(mention)
        if decision is not None and decision.package is not None and decision.decision != "keep":
            if source is not None:
                self.found.paths.setdefault(decision.name, source)
        elif source is not None:
            if isinstance(source, Checkout) and unit.kind == "markdown":
                return  # documentation lists commands that people may type, not requirements
            if not (";" in mention.text or " --" in mention.text):  # pip must read conditions and options
                editable = mention.text.lstrip().startswith(("-e", "--editable"))
                self.found.sources.setdefault(source, Source(source, mention.extras, editable))
                self.found.taken |= {(unit.path, mention.line)}
        elif unit.kind != KIND and local_path(mention.url) is None:
            self._name(unit, mention, decision)

    def finish(self) -> None:
        """Add substitutes of packages that no requirements file names, and report names found only for conda."""
        for item in self.decisions.values():
            if is_inline(item) and item.name not in self.listed:
                self.found.names[item.name] = item.requirement, f"instead of {item.name}"
        for path, names in self.conda.items():
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            self.found.left.append(
                f"{path} lists {', '.join(names[:_SHOWN])}{more} for conda; the names on PyPI may differ"
            )

    def _source(self, mention: Mention) -> Checkout | str | None:
        cloned, path = _repository(mention.url), local_path(mention.url)
        if cloned is not None and canonicalize_name(cloned.name) == canonicalize_name(self.tree.name):
            return "." if self.folders.is_project else None
        if cloned is not None or path is None:
            return cloned
        return self.folders.place(path)

    @cached_property
    def _imported(self) -> frozenset[str]:
        """Modules that the program imports: for these, conda's name is very likely the name on PyPI as well."""
        files = (self.tree.read(path) or b"" for path in self.tree.paths() if path.endswith(".py"))
        names = {match.decode() for data in files for match in _IMPORT.findall(data)}
        return frozenset(str(canonicalize_name(name)) for name in names)

    def _name(self, unit: ParsedManifest, mention: Mention, decision: DependencyDecision | None) -> None:
        name, where = str(canonicalize_name(mention.name)), f"{unit.path}:{mention.line}"
        if name in self.listed or name in _INSTALLERS or not name:
            return
        self.listed.add(name)
        if decision is None and unit.kind == "markdown":
            return
        if decision is None:
            self.found.left.append(f"{where}: {one_line(mention.text)}: not in the plan")
        elif is_cuda_build(mention):
            self.found.left.append(f"{where}: {one_line(mention.text)}: a CUDA build without a known ROCm route")
        elif not mention.section.endswith("conda"):
            self.found.names[name] = requirement(mention), where
        elif not self.described and unit.kind != "markdown":
            self._conda(unit, mention, name)

    def _conda(self, unit: ParsedManifest, mention: Mention, name: str) -> None:
        """Take a conda name for a PyPI name only if the program imports it and no other manifest lists requirements.

        A pin to a build (two `=`) records somebody's environment and is not a requirement.
        """
        if mention.version.count("=") < 2 and name in self._imported:
            self.found.names[name] = requirement(mention), f"{unit.path}:{mention.line}, conda name"
        else:
            self.conda.setdefault(unit.path, []).append(name)


def closure(tree: Tree, files: tuple[str, ...]) -> dict[str, ParsedManifest | None]:
    """Requirements files and the files they include with -r or -c; None for a file that is not text."""
    found: dict[str, ParsedManifest | None] = {}
    waiting = list(files)
    while waiting:
        path = waiting.pop(0)
        if path in found or path not in tree:
            continue
        data = tree.read(path)
        found[path] = unit = None if data is None or b"\0" in data else read(path, data)
        for option in unit.options if unit is not None else ():
            beside = posixpath.dirname(path)
            waiting += [posixpath.normpath(posixpath.join(beside, name)) for name in option.includes]
    return found


def _repository(address: str) -> Checkout | None:
    """The git repository of a URL. In clone commands of scripts the URL has no `git+` prefix."""
    plain = address.startswith(("https://", "http://")) and address.partition("#")[0].endswith(".git")
    return checkout(f"git+{address}" if plain else address)
