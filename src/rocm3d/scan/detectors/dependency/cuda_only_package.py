"""A distribution whose default install is a CUDA build. knowledge/packages lists them.

Other rules report the special cases: torch_unpinned_pull (torch and its companions), conda_cuda (conda packages),
wrong_package_name (names of other projects), direct_wheel_url (wheels by URL) and gpu_extra (CUDA only with an extra).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import Mention, ParsedManifest
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.scan.mentions import (
    is_compiled_wheel,
    is_conda,
    is_from_default_index,
    package_of,
    reason_for,
    requests_rocm,
    severity_override,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches mentions of packages with a record in the knowledge base."""
    for mention in unit.mentions:
        name, package = package_of(mention, context.knowledge)
        if package is None or is_conda(mention) or requests_rocm(unit, mention):
            continue
        if _is_covered_by_other_rule(unit, replace(mention, name=name), context):
            continue
        facts = {"name": name, "purpose": package.purpose}
        yield Match(mention.line, mention.column, facts, package.id, severity_override(unit))


def _is_covered_by_other_rule(unit: ParsedManifest, mention: Mention, context: DetectorContext) -> bool:
    """Whether a more specific rule reports this mention."""
    codes = context.knowledge.codes
    has_wrong_name = reason_for(mention.name, codes["DEP204"].terms) is not None
    return (
        is_compiled_wheel(mention)
        or reason_for(mention.name, codes["DEP202"].terms) is not None
        or bool(context.knowledge.cuda_extras(mention.name, mention.extras))
        or (has_wrong_name and is_from_default_index(unit, mention))
    )


detector = Detector(__name__, code="DEP201", unit_types=ParsedManifest, find=find)
