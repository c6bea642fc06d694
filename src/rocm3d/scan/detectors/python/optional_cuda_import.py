"""An optional import of a package built for CUDA: in a function, a try or a condition, or by name.

A note: the program starts without the package, but a port should know about the feature. Packages that cuda_only_import
excludes because their import works everywhere are excluded here too.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Match, DetectorContext, match_at
from rocm3d.scan.imported import package_of_import
from rocm3d.scan.needs import imports_any
from rocm3d.syntax.python import PythonUnit, string_value
from rocm3d.syntax.python_names import Import, ImportedNames, positional_arguments, unconditional_imports, imports

if TYPE_CHECKING:
    from collections.abc import Iterator

_BY_NAME = ("importlib.import_module", "importlib.util.find_spec", "__import__")
_REPORTED = ("PY102", "PY401")  # rules that report only unconditional imports of a package


def find(unit: PythonUnit, look: DetectorContext) -> Iterator[Match]:
    """Matches the first such import of each package in a file."""
    firm = {found.node.start_byte for found in unconditional_imports(unit)}
    seen = set(_left_out(look))
    folders = set(PurePosixPath(unit.path).parts[:-1])
    for found in (*imports(unit), *_by_name(unit)):
        if found.node.start_byte in firm or found.module.split(".")[0] in folders or unit.is_guarded(found.node):
            continue
        owned = package_of_import(look.knowledge, found)
        if owned is not None and owned[1].id not in seen:
            module, package = owned
            seen.add(package.id)
            place = match_at(unit, found.node, module=module, package=package.id, purpose=package.purpose)
            yield Match(place.line, place.column, place.facts, package.id)


def _by_name(unit: PythonUnit) -> Iterator[Import]:
    """Modules that are imported, or searched with find_spec, by a string literal."""
    if not any(name.rsplit(".", 1)[-1].encode() in unit.data for name in _BY_NAME):
        return
    for name, call in ImportedNames(unit).calls():
        given = positional_arguments(call) if name in _BY_NAME else []
        module = string_value(unit, given[0]) if given else None
        if module and not module.startswith("."):
            yield Import(module, module, "", call)


def _left_out(look: DetectorContext) -> frozenset[str]:
    codes = look.knowledge.codes
    return frozenset(n for n in codes["PY103"].terms if not any(n in codes[code].terms for code in _REPORTED))


def _may_import(unit: PythonUnit, look: DetectorContext) -> bool:
    by_name = any(name.rsplit(".", 1)[-1].encode() in unit.data for name in _BY_NAME)
    return by_name or imports_any(unit, look.knowledge.top_level_modules(look.own_packages | _left_out(look)))


detector = Detector(__name__, code="PY105", unit_types=PythonUnit, find=find, prefilter=_may_import)
