"""The user's options for a plan, besides the GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from rocm3d.model.plan_choices import Platform, Preference
    from rocm3d.model.stack import Stack


@dataclass(frozen=True)
class PlanOptions:
    """`rocm` is a release such as 7.2, or a range. `installed` is the installed torch, which --keep-torch keeps."""

    stack: str | None = None
    rocm: str = ""
    prefer: Preference = "stable"
    platform: Platform = "linux"
    installed: Stack | None = None

    def __post_init__(self) -> None:
        if self.rocm:
            _release_range(self.rocm)
        if self.installed is not None and (self.stack or self.rocm):
            raise UserError("--keep-torch excludes --stack and --rocm", hint="pass only one of them")

    def accepts_rocm(self, release: str) -> bool:
        return not self.rocm or _release_range(self.rocm).contains(release, prereleases=True)


def _release_range(text: str) -> SpecifierSet:
    """7 means ==7.*, 7.2 means ==7.2.*; a range stays as written."""
    try:
        Version(text)
    except InvalidVersion:
        pass
    else:
        return SpecifierSet(f"=={text}.*")
    try:
        return SpecifierSet(text)
    except InvalidSpecifier as error:
        raise UserError(f"--rocm {text}: not a release or a range", hint="for example 7.2 or '>=6.4,<8'") from error
