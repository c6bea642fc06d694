"""An extra that installs CUDA packages which the file does not name: rembg[gpu], jax[cuda12].

The extras are listed in knowledge/packages (`only_with_extra`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.scan.mentions import requests_rocm, severity_override

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches mentions with an extra that the package's record lists."""
    for mention in unit.mentions:
        for extra, why in context.knowledge.cuda_extras(mention.name, mention.extras).items():
            if not requests_rocm(unit, mention):
                package = context.knowledge.package_by_pip(mention.name)
                facts = {"requirement": f"{mention.name}[{extra}]", "why": why}
                yield Match(
                    mention.line, mention.column, facts, package.id if package else None, severity_override(unit)
                )


detector = Detector(__name__, code="DEP203", unit_types=ParsedManifest, find=find)
