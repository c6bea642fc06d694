"""A git submodule or cloned repository with native code. Without a checkout its sources are not scanned.

A term whose reason starts with `headers` is a header-only library: nothing is built from it, so it is a note.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.manifest import gitmodules
from rocm3d.manifest.install_line import distribution_name
from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.scan.mentions import package_at, reason_for, severity_override

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROCM = re.compile(r"rocm|[/_-]amd\b|[/_-]hip\b", re.IGNORECASE)


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches repositories named by the code's terms, and repositories of packages with a record."""
    for submodule in unit.submodules:
        name = distribution_name(submodule.url) or distribution_name(submodule.path)
        if not name or _ROCM.search(submodule.url) or reason_for(name, context.knowledge.codes["DEP202"].terms):
            continue  # torch and triton themselves run on ROCm
        package, reason = package_at(name, context.knowledge), reason_for(name, context.code.terms)
        if package is not None or reason is not None:
            how = "is a submodule with" if unit.kind == gitmodules.reader.kind else "is cloned by the script and has"
            facts = {"path": submodule.path, "url": submodule.url, "how": how}
            is_header_only = package is None and reason is not None and reason.startswith("headers")
            match = Match(
                submodule.line, submodule.column, facts, package.id if package else None, severity_override(unit)
            )
            yield replace(match, severity="note") if is_header_only else match


detector = Detector(__name__, code="DEP205", unit_types=ParsedManifest, find=find)
