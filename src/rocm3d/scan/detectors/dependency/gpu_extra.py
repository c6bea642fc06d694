"""An extra in brackets that brings CUDA packages, none of whose names stand in the file: rembg[gpu], jax[cuda12]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rocm3d.manifest.manifest import Manifest
from rocm3d.scan.detector import Detector, Hit, Look
from rocm3d.scan.mentions import is_rocm, severity

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: Manifest, look: Look) -> Iterator[Hit]:
    """Mentions with an extra of the code's terms, which are written name[extra]."""
    for mention in unit.mentions:
        wanted = {f"{canonicalize_name(mention.name)}[{canonicalize_name(extra)}]": extra for extra in mention.extras}
        for term, why in look.code.terms.items():
            name, _, extra = term.rstrip("]").partition("[")
            key = f"{canonicalize_name(name)}[{canonicalize_name(extra)}]"
            if key in wanted and not is_rocm(unit, mention):
                package = look.knowledge.package_by_pip(mention.name)
                facts = {"requirement": f"{mention.name}[{wanted[key]}]", "why": why}
                yield Hit(mention.line, mention.column, facts, package.id if package else None, severity(unit))


detector = Detector(__name__, code="DEP203", reads=Manifest, find=find)
