"""Prefilters: cheap tests on the bytes of a file, before the parse. False means that the rule cannot match.

A prefilter may return True for a file without a match, never False for a file with one.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.manifest.manifest import ParsedManifest
    from rocm3d.scan.detector import DetectorContext
    from rocm3d.syntax.cuda import CudaUnit
    from rocm3d.syntax.python import PythonUnit

_GAP = rb"(?:\s|\\|/\*[^*]*\*/)*"
_LAUNCH = re.compile(rb"<" + _GAP + rb"<" + _GAP + rb"<")


def contains_term(unit: CudaUnit | PythonUnit | ParsedManifest, context: DetectorContext) -> bool:
    """Whether a term of the code occurs verbatim."""
    return any(term in unit.data for term in context.encoded_terms)


def contains_text(data: bytes, text: bytes) -> bool:
    """Whether a text such as at::cuda occurs, with or without spaces around `::`."""
    if b"::" not in text:
        return text in data
    return text.split(b"::")[0] in data and _qualified_name_pattern(text).search(data) is not None


@cache
def _qualified_name_pattern(term: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\s*::\s*".join(re.escape(part) for part in term.split(b"::")))


def contains_dotted_name(unit: PythonUnit, context: DetectorContext) -> bool:
    """Whether a term such as torch.version.cuda occurs, or an import that may rename one of its last two parts."""
    return any(_can_name(unit, term) for term in context.encoded_terms)


def _can_name(unit: PythonUnit, term: bytes) -> bool:
    parts, rarest_first = _parts(term)
    if not all(part in unit.data for part in rarest_first):
        return False
    return (
        len(parts) == 1
        or not unit.imported_names.isdisjoint(parts[-2:])
        or bool(_dotted_name_pattern(parts[-2:]).search(unit.data))
    )


@cache
def _parts(term: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """The parts of a dotted name in order, and again longest first: long parts are rare, so the search ends sooner."""
    parts = tuple(term.split(b"."))
    return parts, tuple(sorted(parts, key=len, reverse=True))


@cache
def _dotted_name_pattern(parts: tuple[bytes, ...]) -> re.Pattern[bytes]:
    return re.compile(rb"\s*\.\s*".join(re.escape(part) for part in parts))


def imports_term(unit: PythonUnit, context: DetectorContext) -> bool:
    """Whether the file imports a module that is a term."""
    return not unit.imported_names.isdisjoint(context.encoded_terms)


def imports_any(unit: PythonUnit, modules: frozenset[bytes]) -> bool:
    """Whether the file imports one of these modules, other than a package that contains the file."""
    imported = unit.imported_names & modules
    return bool(imported) and not imported <= {*unit.path.encode().split(b"/")[:-1]}


def contains_launch(unit: CudaUnit, context: DetectorContext) -> bool:  # noqa: ARG001
    """Whether `<<<` occurs, also with spaces or comments between the chevrons."""
    return b"<<<" in unit.data or _LAUNCH.search(unit.data) is not None
