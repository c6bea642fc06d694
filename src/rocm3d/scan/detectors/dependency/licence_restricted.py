"""A package with a licence that restricts use or sharing. One note per package and file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.manifest.install_line import distribution_name
from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import Detector, Match, DetectorContext
from rocm3d.scan.mentions import package_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: ParsedManifest, look: DetectorContext) -> Iterator[Match]:
    """Matches mentions and submodules whose licence name or note contains one of the code's terms."""
    named = [(package_of(item, look.knowledge)[0], item.line, item.column) for item in unit.mentions]
    named += [(distribution_name(item.url) or distribution_name(item.path), item.line, item.column) for item in unit.submodules]
    seen: set[str] = set()
    for name, line, column in sorted(named, key=lambda item: item[1:]):
        package = look.knowledge.package_by_pip(name) if name else None
        if package is None or package.licence is None or package.id in seen:
            continue
        text = f"{package.licence.name} {package.licence.note}".lower()
        why = next((why for term, why in look.code.terms.items() if term.lower() in text), None)
        if why is not None:
            seen.add(package.id)
            facts = {"name": name, "licence": package.licence.name, "why": package.licence.note.rstrip(".") or why}
            yield Match(line, column, facts, package.id, "note")


detector = Detector(__name__, code="DEP301", unit_types=ParsedManifest, find=find)
