"""An index that is not known to be public: a name of it must never be asked of another index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.manifest.index_uses import index_uses
from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.model.credentials import without_credentials
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.scan.mentions import severity_override

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """One match for each place that names such an index."""
    positions: set[tuple[int, int]] = set()
    for use in index_uses(unit, context.knowledge.is_public_index):
        if (use.line, use.column) not in positions:
            positions.add((use.line, use.column))
            facts = {"url": without_credentials(use.url)}
            yield Match(use.line, use.column, facts, severity=severity_override(unit))


detector = Detector(__name__, code="DEP106", unit_types=ParsedManifest, find=find)
