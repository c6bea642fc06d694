"""Weights loaded for a library whose replacement has another weight layout. The code's terms list the libraries.

The load and the import are often in different files, so the import is a clue for the loads in all other files. Loading
the state of an optimizer or a scheduler is not reported.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.scan.aside import is_auxiliary
from rocm3d.scan.detector import Clue, Detector, Match, DetectorContext, match_at
from rocm3d.scan.imported import package_of_import
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.python_names import imports, keyword_argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_OTHER = re.compile(r"(?i)optim|sched|scaler|sampler|loader")


def find(unit: PythonUnit, look: DetectorContext) -> Iterator[Match | Clue]:
    """Matches the first weight load of a file, if this file or another one imports such a library."""
    terms = look.code.terms
    used = {}
    if any(term.encode() in unit.data for term in terms):
        for found in imports(unit):
            library = found.module.split(".")[0]
            if library in terms and library not in used:
                owned = package_of_import(look.knowledge, found)
                used[library] = owned[1].id if owned else None
    if not is_auxiliary(unit.path):
        yield from (Clue(_clue(library)) for library in used)
    load = _load(unit)
    if load is None:
        return
    if used:
        library = next(iter(used))
        yield _hit(unit, load, library, used[library])
        return
    for library in terms:
        yield replace(_hit(unit, load, library, _package(look, library)), severity="warning", clue=_clue(library))


def _load(unit: PythonUnit) -> Node | None:
    if b"load_state_dict" not in unit.data:
        return None
    for call in unit.nodes("call"):
        function = call.child_by_field_name("function")
        if function is None or not unit.slice(function).endswith(".load_state_dict") or unit.is_guarded(call):
            continue
        if not _OTHER.search(unit.slice(function)):
            return call
    return None


def _hit(unit: PythonUnit, load: Node, library: str, package: str | None) -> Match:
    """The match at a load. A strict load is only a warning, because it fails with an error."""
    strict = keyword_argument(unit, load, "strict")
    loose = strict is not None and strict.type == "false"
    place = match_at(unit, load, package=package or library)
    return Match(place.line, place.column, place.facts, package, None if loose else "warning")


def _package(look: DetectorContext, library: str) -> str | None:
    named = (item.id for item in look.knowledge.packages.values() if library in (n.split(".")[0] for n in item.imports))
    return min(named, default=None)


def _clue(library: str) -> str:
    return f"{detector.code} {library}"


detector = Detector(__name__, code="PY405", unit_types=PythonUnit, find=find)
