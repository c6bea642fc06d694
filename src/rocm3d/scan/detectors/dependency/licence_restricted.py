"""A package with a licence that restricts use or sharing. One note per package and file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.manifest.install_line import distribution_name
from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.scan.mentions import package_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    """Matches mentions and submodules whose licence name or note contains one of the code's terms."""
    candidates = [
        (package_of(candidate, context.knowledge)[0], candidate.line, candidate.column) for candidate in unit.mentions
    ]
    candidates += [
        (distribution_name(candidate.url) or distribution_name(candidate.path), candidate.line, candidate.column)
        for candidate in unit.submodules
    ]
    reported: set[str] = set()
    for name, line, column in sorted(candidates, key=lambda candidate: candidate[1:]):
        package = context.knowledge.package_by_pip(name) if name else None
        if package is None or package.licence is None or package.id in reported:
            continue
        text = f"{package.licence.name} {package.licence.note}".lower()
        why = next((why for term, why in context.code.terms.items() if term.lower() in text), None)
        if why is not None:
            reported.add(package.id)
            facts = {"name": name, "licence": package.licence.name, "why": package.licence.note.rstrip(".") or why}
            yield Match(line, column, facts, package.id, "note")


detector = Detector(__name__, code="DEP301", unit_types=ParsedManifest, find=find)
