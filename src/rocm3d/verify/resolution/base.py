"""The distributions of a stack that no install may replace, and stub wheels for them that hold metadata only."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.plan_choices import Platform
    from rocm3d.model.stack import Stack


@dataclass(frozen=True)
class StackBase:
    """Distributions of the stack with their local versions. `packages`: ids of their package records."""

    versions: Mapping[str, str]
    packages: frozenset[str]
    python: str
    platform: Platform

    @property
    def pins(self) -> list[str]:
        """The versions as lines of a constraints file."""
        return [f"{name}=={version}" for name, version in self.versions.items()]

    @property
    def description(self) -> str:
        """The versions as one text, for verdicts."""
        return ", ".join(f"{name} {version}" for name, version in self.versions.items())


def base_of(stack: Stack, knowledge: Knowledge, platform: Platform) -> StackBase:
    """The base of a stack. For a stack that was read from a machine only the version of torch is known."""
    provided = stack.provides or {"torch": stack.torch}
    versions = {str(canonicalize_name(name)): f"{version}+rocm{stack.rocm}" for name, version in provided.items()}
    owners = (knowledge.package_by_pip(name) for name in versions)
    return StackBase(versions, frozenset(owner.id for owner in owners if owner is not None), stack.python, platform)


def write_stub_wheels(base: StackBase, folder: Path) -> None:
    """One wheel for each distribution, without requirements: the real one is already installed with the stack."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, version in base.versions.items():
        stem = f"{name.replace('-', '_')}-{version}"
        with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            wheel.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{stem}.dist-info/RECORD", "")
