"""Python imports of modules among the rule's terms, outside of try, conditions and functions.

Parameter `once_per`: `module` (default) matches the first import of each term, `file` the first of all.
Facts: module (with `once_per = "file"` as it is written), why. The package of the import belongs to the match.
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
    once_per_file = context.parameters.get("once_per") == "file"
    reported = set()
    for imported in required_imports(unit):
        term = imported.module.split(".")[0]
        if term not in context.code.terms or term in reported:
            continue
        reported.add(term)
        owned = package_of_import(context.knowledge, imported)
        facts = {"module": imported.module if once_per_file else term, "why": context.code.terms[term]}
        match = match_at(unit, imported.node, **facts)
        yield Match(match.line, match.column, match.facts, owned[1].id if owned else None)
        if once_per_file:
            return


matcher = Matcher(unit_types=PythonUnit, find=find, prefilter=imports_term)
