"""What the repository needs, wherever it says so: files to install from, names, clones and folders of its own.

Only its top level speaks for it. What a deeper folder asks for may be another program's, and is left alone.
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
from rocm3d.manifest.manifest import Manifest, Mention, readers
from rocm3d.manifest.pipfile import OTHER
from rocm3d.manifest.requirements import KIND, is_requirements, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rocm3d.model.plan import DependencyDecision, Plan
    from rocm3d.workspace.tree import Tree

# Which file is believed first where two name the same distribution.
_KINDS = (
    KIND, "pyproject", "setup_py", "setup_cfg", "pipfile", "cog",
    "conda", "shell", "docker", "python_script", "markdown",
)  # fmt: skip
_PROJECT = frozenset({"pyproject", "setup_py", "setup_cfg"})
_NOT_TO_RUN = frozenset(
    {"build-system", "optional", "setup_requires", "tests_require", "extras_require", "hatch", "pdm", "uv", OTHER}
)
_IMPORT = re.compile(rb"^[ \t]*(?:import|from)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_SHOWN = 8
_INSTALLERS = frozenset({"python", "pip", "setuptools", "wheel", "conda", "uv"})


@dataclass(frozen=True)
class Source:
    """Code to build: a clone or a folder of the repository, as somebody asked for it."""

    what: Checkout | str
    extras: frozenset[str] = frozenset()
    editable: bool = False


@dataclass
class Needs:
    """`files` are requirements files, `taken` the lines of them that become sources; `names` are further requirements
    with their places, `paths` where it keeps decided packages, and `left` is what is not installed."""

    files: tuple[str, ...] = ()
    taken: set[tuple[str, int]] = field(default_factory=set)
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    sources: dict[Checkout | str, Source] = field(default_factory=dict)
    paths: dict[str, Checkout | str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


def needs(plan: Plan, tree: Tree) -> Needs:
    """Everything but what the plan's own routes put in place."""
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


def _manifests(tree: Tree, folder: str) -> Iterator[Manifest]:
    """Manifests right in a folder. Requirements files are read where they are named."""
    for path in tree.paths():
        data = tree.read(path) if posixpath.dirname(path) == folder and not is_requirements(path) else None
        if data is None or b"\0" in data:
            continue
        for reader in readers():
            if reader.kind in _KINDS and reader.matches(path) and all(word in data for word in reader.needs):
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

    def take_files(self, manifests: list[Manifest]) -> None:
        """The requirements file at the top; without one, those that a manifest installs from."""
        named = [name for unit in manifests for option in unit.options for name in option.includes]
        files = ["requirements.txt"] if "requirements.txt" in self.tree else list(map(posixpath.normpath, named))
        self.found.files = tuple(dict.fromkeys(path for path in files if self._is_file(path)))
        for path, unit in closure(self.tree, self.found.files).items():
            if unit is None:
                self.found.left.append(f"{path} cannot be read as text, so nothing of it is installed")
                continue
            if not is_constraints(path):
                self.listed |= {str(canonicalize_name(item.name)) for item in unit.mentions if not item.url}
                manifests.append(unit)

    def _is_file(self, path: str) -> bool:
        return path in self.tree and is_requirements(path) and one_line(path) == path

    def take_all(self, manifests: list[Manifest]) -> None:
        """Every mention, those of the files that are believed first before the others."""
        for unit in sorted(manifests, key=lambda unit: (_KINDS.index(unit.kind), unit.path)):
            if unit.kind == "conda":
                self.described = bool(self.found.files or self.found.names)
            for mention in unit.mentions:
                self._take(unit, mention)

    def _take(self, unit: Manifest, mention: Mention) -> None:
        """One mention to where it belongs."""
        if mention.section.split(":")[0] in _NOT_TO_RUN or "$" in mention.text:
            return
        decision = decided(mention, self.decisions)
        source = self._source(mention)
        if decision is not None and decision.package is not None and decision.decision != "keep":
            if source is not None:
                self.found.paths.setdefault(decision.name, source)
        elif source is not None:
            if isinstance(source, Checkout) and unit.kind == "markdown":
                return  # a page tells what people may type
            if not (";" in mention.text or " --" in mention.text):  # conditions and options are pip's to read
                editable = mention.text.lstrip().startswith(("-e", "--editable"))
                self.found.sources.setdefault(source, Source(source, mention.extras, editable))
                self.found.taken |= {(unit.path, mention.line)}
        elif unit.kind != KIND and local_path(mention.url) is None:
            self._name(unit, mention, decision)

    def finish(self) -> None:
        """Distributions of other names that stand for what no requirements file names, and what only conda knows."""
        for item in self.decisions.values():
            if is_inline(item) and item.name not in self.listed:
                self.found.names[item.name] = item.requirement, f"instead of {item.name}"
        for path, names in self.conda.items():
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            self.found.left.append(
                f"{path} names {', '.join(names[:_SHOWN])}{more} for conda; pip may call them otherwise"
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
        """Modules that the program imports: conda's name for such a one is very likely pip's as well."""
        files = (self.tree.read(path) or b"" for path in self.tree.paths() if path.endswith(".py"))
        names = {match.decode() for data in files for match in _IMPORT.findall(data)}
        return frozenset(str(canonicalize_name(name)) for name in names)

    def _name(self, unit: Manifest, mention: Mention, decision: DependencyDecision | None) -> None:
        name, where = str(canonicalize_name(mention.name)), f"{unit.path}:{mention.line}"
        if name in self.listed or name in _INSTALLERS or not name:
            return
        self.listed.add(name)
        if decision is None and unit.kind == "markdown":
            return
        if decision is None:
            self.found.left.append(f"{where}: {one_line(mention.text)}: the plan does not speak of it")
        elif is_cuda_build(mention):
            self.found.left.append(f"{where}: {one_line(mention.text)}: a CUDA build without a known way to ROCm")
        elif not mention.section.endswith("conda"):
            self.found.names[name] = requirement(mention), where
        elif not self.described and unit.kind != "markdown":
            self._conda(unit, mention, name)

    def _conda(self, unit: Manifest, mention: Mention, name: str) -> None:
        """Conda's names are its own. Where nothing else tells, one that the program imports goes as pip's; a pin to a
        build is no wish but what somebody's environment happened to hold."""
        if mention.version.count("=") < 2 and name in self._imported:
            self.found.names[name] = requirement(mention), f"{unit.path}:{mention.line}, by its name for conda"
        else:
            self.conda.setdefault(unit.path, []).append(name)


def closure(tree: Tree, files: tuple[str, ...]) -> dict[str, Manifest | None]:
    """Requirements files and those that they name with -r or -c; None for one that is no text."""
    found: dict[str, Manifest | None] = {}
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
    """A repository by its address; one that a script clones has not the mark that pip wants before it."""
    plain = address.startswith(("https://", "http://")) and address.partition("#")[0].endswith(".git")
    return checkout(f"git+{address}" if plain else address)
