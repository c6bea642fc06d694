"""torch, or a package that pins torch, required by name or version only: the default index has a CUDA build.

cuda_pin reports pins to a CUDA build. A lower bound in a library's metadata (`torch>=2`) is a note: the installed ROCm
torch satisfies it, and ports leave it unchanged.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import Mention, ParsedManifest
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.scan.mentions import is_conda, reason_for, requests_rocm, severity_override

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.finding import Severity

_METADATA_SECTIONS = frozenset({"install_requires", "extras_require", "tests_require", "project", "optional", "poetry"})
_BUILD_SECTIONS = frozenset({"build-system", "setup_requires"})  # reported by build_isolation
_BOUNDED = re.compile(r"==|~=|<|\^|^\d")


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches names among the code's terms, unless a local version, a URL or a ROCm index selects the build."""
    for mention in unit.mentions:
        if (
            reason_for(mention.name, context.code.terms) is None
            or mention.section in _BUILD_SECTIONS
            or is_conda(mention)
        ):
            continue
        if "+" in mention.version or mention.url or requests_rocm(unit, mention):
            continue
        package = context.knowledge.package_by_pip(mention.name)
        facts = {"name": PurePosixPath(unit.path).name, "requirement": _requirement(mention)}
        yield Match(mention.line, mention.column, facts, package.id if package else None, _severity(unit, mention))


def _severity(unit: ParsedManifest, mention: Mention) -> Severity | None:
    if mention.section in _METADATA_SECTIONS and not _BOUNDED.search(mention.version):
        return "note"
    return severity_override(unit)


def _requirement(mention: Mention) -> str:
    extras = f"[{','.join(sorted(mention.extras))}]" if mention.extras else ""
    return f"{mention.name}{extras}{mention.version}"


detector = Detector(__name__, code="DEP202", unit_types=ParsedManifest, find=find)
