"""The first Python import of each module among the rule's terms, outside of try, conditions and functions.

Facts: module (the term), imported (the module as it is written), why. The package of the import belongs to the match.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import DetectorContext, Match, Matcher, match_at
from rocm3d.scan.package_imports import package_of_import, required_imports
from rocm3d.scan.prefilter import imports_term
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    reported = set()
    for imported in required_imports(unit):
        term = imported.module.split(".")[0]
        if term in context.code.terms and term not in reported:
            reported.add(term)
            owned = package_of_import(context.knowledge, imported)
            facts = {"module": term, "imported": imported.module, "why": context.code.terms[term]}
            match = match_at(unit, imported.node, **facts)
            yield Match(match.line, match.column, match.facts, owned[1].id if owned else None)


matcher = Matcher(unit_types=PythonUnit, find=find, prefilter=imports_term)
