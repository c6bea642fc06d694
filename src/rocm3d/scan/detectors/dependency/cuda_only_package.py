"""A distribution whose default install is a CUDA build; which ones is data (knowledge/packages)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import Manifest
from rocm3d.scan.detector import Detector, Hit, Look

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: Manifest, look: Look) -> Iterator[Hit]:
    """Mentions that the knowledge base has a record of."""
    for mention in unit.mentions:
        package = look.knowledge.package_by_pip(mention.name)
        if package is not None:
            facts = {"name": mention.name, "purpose": package.purpose}
            yield Hit(mention.line, mention.column, facts, package.id)


detector = Detector(__name__, code="DEP201", reads=Manifest, find=find)
