"""A name that is another project, a placeholder or missing on the default index. The code's terms list them.

With a URL or an explicit index the same name is correct and not reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.scan.mentions import is_conda, is_from_default_index, reason_for, severity_override

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches names among the code's terms that come from the default index."""
    for mention in unit.mentions:
        why = reason_for(mention.name, context.code.terms)
        if why is None or is_conda(mention) or unit.kind == "locks" or not is_from_default_index(unit, mention):
            continue
        package = context.knowledge.package_by_pip(mention.name)
        facts = {"name": mention.name, "why": why}
        yield Match(mention.line, mention.column, facts, package.id if package else None, severity_override(unit))


detector = Detector(__name__, code="DEP204", unit_types=ParsedManifest, find=find)
