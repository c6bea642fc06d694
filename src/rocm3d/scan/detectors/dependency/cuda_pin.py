"""A requirement pinned to a CUDA build by its local version (==2.1.0+cu121). direct_wheel_url covers wheels by URL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.scan.mentions import severity_override

if TYPE_CHECKING:
    from collections.abc import Iterator

_CUDA_LOCAL_VERSION = re.compile(r"\+(?:pt\d+)?cu\d+")


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    for mention in unit.mentions:
        pinned = _CUDA_LOCAL_VERSION.search(mention.version)
        if pinned:
            package = context.knowledge.package_by_pip(mention.name)
            facts = {"name": mention.name, "pin": pinned.group()}
            yield Match(mention.line, mention.column, facts, package.id if package else None, severity_override(unit))


detector = Detector(__name__, code="DEP101", unit_types=ParsedManifest, find=find)
