"""Weights loaded for a library whose replacement has another weight layout. The code's terms list the libraries.

The load and the import are often in different files, so the import is a clue for the loads in all other files. Loading
the state of an optimizer or a scheduler is not reported.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.scan.auxiliary_files import is_auxiliary
from rocm3d.scan.detector import Clue, Detector, DetectorContext, Match, match_at
from rocm3d.scan.package_imports import package_of_import
from rocm3d.syntax.python import PythonUnit, imports, keyword_argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_NOT_WEIGHTS = re.compile(r"(?i)optim|sched|scaler|sampler|loader")


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match | Clue]:
    """Matches the first weight load of a file, if this file or another one imports such a library."""
    terms = context.code.terms
    packages_by_library = {}
    if any(term.encode() in unit.data for term in terms):
        for imported in imports(unit):
            library = imported.module.split(".")[0]
            if library in terms and library not in packages_by_library:
                owned = package_of_import(context.knowledge, imported)
                packages_by_library[library] = owned[1].id if owned else None
    if not is_auxiliary(unit.path):
        yield from (Clue(_clue_name(library)) for library in packages_by_library)
    load = _first_weight_load(unit)
    if load is None:
        return
    if packages_by_library:
        library = next(iter(packages_by_library))
        yield _load_match(unit, load, library, packages_by_library[library])
        return
    for library in terms:
        yield replace(
            _load_match(unit, load, library, _package_id(context, library)),
            severity="warning",
            clue=_clue_name(library),
        )


def _first_weight_load(unit: PythonUnit) -> Node | None:
    if b"load_state_dict" not in unit.data:
        return None
    for call in unit.nodes("call"):
        function = call.child_by_field_name("function")
        if function is None or not unit.slice(function).endswith(".load_state_dict") or unit.is_guarded(call):
            continue
        if not _NOT_WEIGHTS.search(unit.slice(function)):
            return call
    return None


def _load_match(unit: PythonUnit, load: Node, library: str, package: str | None) -> Match:
    """The match at a load. A strict load is only a warning, because it fails with an error."""
    strict = keyword_argument(unit, load, "strict")
    is_lenient = strict is not None and strict.type == "false"
    match = match_at(unit, load, package=package or library)
    return Match(match.line, match.column, match.facts, package, None if is_lenient else "warning")


def _package_id(context: DetectorContext, library: str) -> str | None:
    package_ids = (
        package.id
        for package in context.knowledge.packages.values()
        if library in (n.split(".")[0] for n in package.imports)
    )
    return min(package_ids, default=None)


def _clue_name(library: str) -> str:
    return f"{detector.code} {library}"


detector = Detector(__name__, code="PY405", unit_types=PythonUnit, find=find)
