"""lock.json of a port: what install.sh fetches, by version and hash, commit or digest, and what is not locked."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from rocm3d.model.base import Record
from rocm3d.model.source import Fact, Identifier

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
ArtifactKind = Literal["package", "checkout", "image", "file", "build requirements"]


class LockedFile(Record):
    """A file of a release and its hash."""

    name: str
    sha256: Sha256


class LockedPackage(Record):
    """One release of a distribution, with the files that may be installed."""

    name: str
    version: str
    index: str
    files: tuple[LockedFile, ...] = Field(min_length=1)

    @property
    def requirement(self) -> str:
        """One line of a requirements file, with the hash of each file."""
        hashes = sorted({file.sha256 for file in self.files})
        return " ".join([f"{self.name}=={self.version}", *(f"--hash=sha256:{digest}" for digest in hashes)])

    @property
    def has_wheel(self) -> bool:
        """Whether it can be installed without a build."""
        return any(file.name.endswith(".whl") for file in self.files)


class Distribution(Fact, LockedPackage):
    """A release of knowledge/distributions.toml: what a route or install.sh takes from an index."""

    id: Identifier


class DistributionTable(Record):
    """The content of distributions.toml."""

    distributions: tuple[Distribution, ...]


class GitPin(Record):
    """The commit of a repository that a route builds. `of` is the branch, tag or pull request, with its date."""

    commit: Commit
    of: str = Field(min_length=1)
    checked: date


class LockedCheckout(Record):
    """A git repository at one commit."""

    name: str
    url: str
    commit: Commit
    of: str = ""


class LockedImage(Record):
    """A container image by its digest."""

    image: str
    digest: Digest


class UnlockedArtifact(Record):
    """Something that install.sh would fetch as it is on that day, and why."""

    kind: ArtifactKind
    name: str
    reason: str


class Lock(Record):
    """lock.json. install.sh installs the locked artifacts, and the others only with --unlocked."""

    packages: tuple[LockedPackage, ...] = ()
    checkouts: tuple[LockedCheckout, ...] = ()
    images: tuple[LockedImage, ...] = ()
    unlocked: tuple[UnlockedArtifact, ...] = ()
