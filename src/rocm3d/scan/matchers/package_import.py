"""The first Python import of each package in the knowledge base, except the packages that are terms of the rule.

Parameters: `when`, `required` for imports that run with the module, `optional` for those in a function, a try or a
condition, or by name; `terms_of`, another rule whose terms count instead; `reported_by`, rules whose terms are left out
too; `kept_import`, the severity if an active route installs a package with the same import name.
Facts: module, package, purpose. The package belongs to the match.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.scan.detector import DetectorContext, Match, Matcher, match_at
from rocm3d.scan.package_imports import package_of_import, required_imports
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

    from rocm3d.model.package import Package

_BY_NAME = ("importlib.import_module", "importlib.util.find_spec", "__import__")
_INSTALLING = ("keep", "replace", "build", "substitute", "stub")  # decisions of routes


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    parameters = context.parameters
    handled = set(_excluded_packages(context))
    if parameters["when"] == "required":
        candidates = required_imports(unit.truncated_after_imports(_known_modules(context)))
    else:
        candidates = _optional_imports(unit)
    for imported in candidates:
        owned = package_of_import(context.knowledge, imported)
        if owned is not None and owned[1].id not in handled:
            module, package = owned
            handled.add(package.id)
            match = match_at(unit, imported.node, module=module, package=package.id, purpose=package.purpose)
            severity = parameters.get("kept_import") if _keeps_import_name(package) else None
            yield Match(match.line, match.column, match.facts, package.id, severity)


def _optional_imports(unit: PythonUnit) -> Iterator[Import]:
    firm = {imported.node.start_byte for imported in unconditional_imports(unit)}
    folders = set(PurePosixPath(unit.path).parts[:-1])
    for imported in (*imports(unit), *_imports_by_name(unit)):
        is_own = imported.module.split(".")[0] in folders
        if imported.node.start_byte not in firm and not is_own and not unit.is_guarded(imported.node):
            yield imported


def _imports_by_name(unit: PythonUnit) -> Iterator[Import]:
    """Modules that are imported, or searched with find_spec, by a string literal."""
    for name, call in ImportedNames(unit).calls() if _can_import_by_name(unit) else ():
        call_arguments = positional_arguments(call) if name in _BY_NAME else []
        module = string_value(unit, call_arguments[0]) if call_arguments else None
        if module and not module.startswith("."):
            yield Import(module, module, "", call)


def _keeps_import_name(package: Package) -> bool:
    return any(r.import_kept and r.decision in _INSTALLING for r in package.routes if r.status == "active")


def _excluded_packages(context: DetectorContext) -> frozenset[str]:
    parameters = context.parameters
    names = (parameters.get("terms_of", context.code.rule), *parameters.get("reported_by", ()))
    return frozenset(term for rule in context.knowledge.codes.values() if rule.rule in names for term in rule.terms)


def _known_modules(context: DetectorContext) -> frozenset[bytes]:
    return context.knowledge.top_level_modules(context.own_packages | _excluded_packages(context))


def _can_import_by_name(unit: PythonUnit) -> bool:
    return any(name.rsplit(".", 1)[-1].encode() in unit.data for name in _BY_NAME)


def _can_match(unit: PythonUnit, context: DetectorContext) -> bool:
    by_name = context.parameters["when"] == "optional" and _can_import_by_name(unit)
    return by_name or imports_any(unit, _known_modules(context))


matcher = Matcher(
    unit_types=PythonUnit,
    find=find,
    prefilter=_can_match,
    parameters={
        "when": ("required", "optional"),
        "terms_of": str,
        "reported_by": list,
        "kept_import": ("note", "warning", "error"),
    },
    required=("when",),
)
