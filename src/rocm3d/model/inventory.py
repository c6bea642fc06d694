"""The result of a scan: dependencies, native extensions and findings of a repository.

The matrix has many repositories and the libraries that block them on AMD GPUs.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.counted import counted
from rocm3d.model.finding import Finding, Location
from rocm3d.model.port_state import PortState

Readiness = Literal["ready", "ready-with-deps", "needs-edits", "partial", "rewrite", "blocked"]
"""partial: a stub replaces a package; rewrite: an algorithm has to change; blocked: a package has no route."""
COMMENTS = "comments"
"""The source of findings that `rocm3d: ignore[...]` comments hide."""
LibraryState = Literal["proven", "works", "work", "blocked", "named"]


NOT_CHECKED_OUT = "submodule not checked out"
GIT_DEPENDENCY = "git dependency, not checked out"
LFS_POINTER = "is a Git LFS pointer; its content was not fetched"
"""Reasons of UnscannedCode that many entries share."""


class SkippedFile(Record):
    """A file that was not scanned, and the reason."""

    path: str
    reason: str


class UnscannedCode(Record):
    """Code or manifests that belong to the port and were not scanned, and the commands that would scan them."""

    name: str
    where: str
    reason: str
    commands: tuple[str, ...] = ()


class Dependency(Record):
    """One entry of a distribution in a manifest. `package` is the id of its record in knowledge/, if there is one."""

    name: str
    requirement: str
    location: Location
    package: str | None = None
    optional: bool = Field(
        default=False, description="a plain install leaves it out: an extra, a group, a build or test requirement"
    )


class PythonVersions(Record):
    """Python versions that a file of the repository names, in PEP 440 syntax."""

    specifier: str
    location: Location
    required: bool = Field(default=False, description="pip refuses others; else its own environment has them")


class OtherIndex(Record):
    """An index that is not known to be public, and the distributions that may come from it.

    `url` has no credentials. `problem`: why install.sh cannot use it for a distribution by name.
    """

    url: str
    location: Location
    names: tuple[str, ...] = ()
    links: bool = Field(default=False, description="a page or folder of files, as for --find-links")
    problem: str = ""


class Extension(Record):
    """A native extension that the repository builds."""

    name: str
    how: Literal["build_extension", "jit", "cmake"]
    sources: tuple[str, ...] = Field(
        description="relative to the folder of the build script; * if the script has a pattern"
    )
    location: Location
    include_dirs: tuple[str, ...] = ()
    macros: tuple[str, ...] = Field(default=(), description="NAME or NAME=VALUE")
    flags: tuple[str, ...] = Field(default=(), description="for the host compiler; only literals of the build script")
    device_flags: tuple[str, ...] = Field(default=(), description="for device code; only literals of the build script")


class FileCounts(Record):
    """What was scanned."""

    files: int
    bytes: int
    python: int
    cuda: int
    manifests: int


class HiddenFindings(Record):
    """Findings that the repository itself hides, by what hides them. They count for the readiness."""

    source: str = Field(description="the file of its settings, or `comments`")
    setting: str = Field(default="", description="such as `skip = CU, BLD`; empty for comments")
    errors: int = 0
    warnings: int = 0
    notes: int = 0

    @property
    def count(self) -> int:
        return self.errors + self.warnings + self.notes

    @property
    def text(self) -> str:
        """One line that names the source, the count and how to show them."""
        by = f"settings in {self.source} ({self.setting})" if self.setting else "comments (rocm3d: ignore[...])"
        severities = ((self.errors, "error"), (self.warnings, "warning"), (self.notes, "note"))
        parts = ", ".join(counted(number, name) for number, name in severities if number)
        return f"{counted(self.count, 'finding')} hidden by {by}: {parts}; show them: --isolated"


class HiddenFinding(Record):
    """One finding that the repository hides. `source` as in HiddenFindings."""

    finding: Finding
    source: str


class Inventory(Record):
    """The parts of a repository. `repository` is the name of the folder, never its full path."""

    repository: str
    known_as: str | None = Field(default=None, description="the record of knowledge/ports/ whose marks all match")
    counts: FileCounts
    dependencies: tuple[Dependency, ...]
    extensions: tuple[Extension, ...]
    other_indexes: tuple[OtherIndex, ...] = ()
    pythons: tuple[PythonVersions, ...] = ()
    families: dict[str, int]
    skipped: tuple[SkippedFile, ...]
    unscanned: tuple[UnscannedCode, ...] = Field(
        default=(), description="sources and manifests that were not scanned: the rung `scanned` is partial"
    )
    ignored: int = 0
    hidden: tuple[HiddenFindings, ...] = ()
    rules: str = Field(default="", description="--only and --skip of the command line; empty if all rules ran")
    readiness: Readiness
    reasons: tuple[str, ...]


class Scan(Document):
    """inventory.json, written by scan."""

    inventory: Inventory
    findings: tuple[Finding, ...]
    known: int = Field(default=0, ge=0, description="findings omitted because the baseline contains them")
    hidden: tuple[HiddenFinding, ...] = Field(
        default=(), description="findings that the repository hides; `findings` does not contain them"
    )

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """Shown and hidden findings, sorted: readiness and dependency decisions follow from all of them."""
        if not self.hidden:
            return self.findings
        every = (*self.findings, *(item.finding for item in self.hidden))
        return tuple(sorted(every, key=lambda finding: (finding.path, finding.line, finding.column, finding.code)))


class MatrixColumn(Record):
    """One repository. `planned` is the GPU of its plan; empty if there is only an inventory. `state`: of its port."""

    repository: str
    readiness: Readiness
    planned: str = ""
    state: PortState | None = None


class MatrixRow(Record):
    """One library: its state in each repository that depends on it."""

    package: str
    family: str
    states: dict[str, LibraryState]

    @property
    def waiting(self) -> tuple[str, ...]:
        """Repositories in which it still needs work."""
        return tuple(name for name, state in self.states.items() if state in ("work", "blocked", "named"))


class UnlockStep(Record):
    """One step of the suggested order: repositories that are unblocked once this and all earlier libraries work."""

    package: str
    frees: tuple[str, ...]
    waiting: int = Field(description="number of repositories in which it needs work")


class Matrix(Document):
    """The result of `rocm3d matrix`."""

    columns: tuple[MatrixColumn, ...]
    rows: tuple[MatrixRow, ...] = Field(description="sorted by the number of waiting repositories, largest first")
    order: tuple[UnlockStep, ...]
    free: tuple[str, ...] = Field(description="repositories that no library blocks")
