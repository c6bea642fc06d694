"""An optional import of a package built for CUDA: in a function, a try or a condition, or by name.

A note: the program starts without the package, but a port should know about the feature. Packages that cuda_only_import
excludes because their import works everywhere are excluded here too.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.package_imports import package_of_import
from rocm3d.scan.prefilter import imports_any
from rocm3d.syntax.python import (
    Import,
    ImportedNames,
    PythonUnit,
    imports,
    positional_arguments,
    string_value,
    unconditional_imports,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_BY_NAME = ("importlib.import_module", "importlib.util.find_spec", "__import__")
_FIRM_IMPORT_CODES = ("PY102", "PY401")  # rules that report only unconditional imports of a package


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the first such import of each package in a file."""
    firm = {imported.node.start_byte for imported in unconditional_imports(unit)}
    handled = set(_excluded_packages(context))
    folders = set(PurePosixPath(unit.path).parts[:-1])
    for imported in (*imports(unit), *_imports_by_name(unit)):
        if (
            imported.node.start_byte in firm
            or imported.module.split(".")[0] in folders
            or unit.is_guarded(imported.node)
        ):
            continue
        owned = package_of_import(context.knowledge, imported)
        if owned is not None and owned[1].id not in handled:
            module, package = owned
            handled.add(package.id)
            match = match_at(unit, imported.node, module=module, package=package.id, purpose=package.purpose)
            yield Match(match.line, match.column, match.facts, package.id)


def _imports_by_name(unit: PythonUnit) -> Iterator[Import]:
    """Modules that are imported, or searched with find_spec, by a string literal."""
    if not any(name.rsplit(".", 1)[-1].encode() in unit.data for name in _BY_NAME):
        return
    for name, call in ImportedNames(unit).calls():
        call_arguments = positional_arguments(call) if name in _BY_NAME else []
        module = string_value(unit, call_arguments[0]) if call_arguments else None
        if module and not module.startswith("."):
            yield Import(module, module, "", call)


def _excluded_packages(context: DetectorContext) -> frozenset[str]:
    codes = context.knowledge.codes
    return frozenset(n for n in codes["PY103"].terms if not any(n in codes[code].terms for code in _FIRM_IMPORT_CODES))


def _can_match(unit: PythonUnit, context: DetectorContext) -> bool:
    by_name = any(name.rsplit(".", 1)[-1].encode() in unit.data for name in _BY_NAME)
    return by_name or imports_any(
        unit, context.knowledge.top_level_modules(context.own_packages | _excluded_packages(context))
    )


detector = Detector(__name__, code="PY105", unit_types=PythonUnit, find=find, prefilter=_can_match)
