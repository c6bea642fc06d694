"""A name that leads to another project, a placeholder or nothing on the default index; which ones is in the terms.

With an address, or an index of its own, the same name is right: then it is a package like others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import Manifest
from rocm3d.scan.detector import Detector, Hit, Look
from rocm3d.scan.mentions import is_conda, is_from_default_index, severity, term_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: Manifest, look: Look) -> Iterator[Hit]:
    """Plain names of the code's terms."""
    for mention in unit.mentions:
        why = term_of(mention.name, look.code.terms)
        if why is None or is_conda(mention) or unit.kind == "locks" or not is_from_default_index(unit, mention):
            continue
        package = look.knowledge.package_by_pip(mention.name)
        facts = {"name": mention.name, "why": why}
        yield Hit(mention.line, mention.column, facts, package.id if package else None, severity(unit))


detector = Detector(__name__, code="DEP204", reads=Manifest, find=find)
