"""Prefilters: cheap tests on the bytes of a file, before the parse. False means that the rule cannot match.

A prefilter may return True for a file without a match, never False for a file with one.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.manifest.manifest import ParsedManifest
    from rocm3d.scan.detector import Look
    from rocm3d.syntax.cuda import CudaUnit
    from rocm3d.syntax.python import PythonUnit

_WORD = re.compile(rb"\w+")
_APART = rb"(?:\s|\\|/\*[^*]*\*/)*"
_LAUNCH = re.compile(rb"<" + _APART + rb"<" + _APART + rb"<")
# Spaces between three chevrons, or comments between two. Comments are limited to 8 because each may contain chevrons.
_PULLED_APART = re.compile(
    rb"([<>])(?:\1[\s\\]+|[\s\\]+\1[\s\\]*)\1|([<>])(?:[\s\\]*(?:/\*[^*]*\*/|//[^\n]*\n)){1,8}[\s\\]*\2"
)


def a_term(unit: CudaUnit | PythonUnit | ParsedManifest, look: Look) -> bool:
    """Whether a term of the code occurs verbatim."""
    return any(word in unit.data for word in look.words)


def a_first_word(unit: CudaUnit | PythonUnit, look: Look) -> bool:
    """Whether the first word of a term occurs."""
    return any(word in unit.data for term in look.words for word in _WORD.findall(term)[:1])


def a_qualified_name(unit: CudaUnit, look: Look) -> bool:
    """Whether a term such as at::cuda occurs, with or without spaces around `::`."""
    return any(_WORD.findall(term)[0] in unit.data and _spaced(term).search(unit.data) for term in look.words)


@cache
def _spaced(term: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\s*::\s*".join(re.escape(part) for part in term.split(b"::")))


def a_dotted_name(unit: PythonUnit, look: Look) -> bool:
    """Whether a term such as torch.version.cuda occurs, or an import that may rename one of its last two parts."""
    return any(_may_be_named(unit, term) for term in look.words)


def _may_be_named(unit: PythonUnit, term: bytes) -> bool:
    parts, rarest_first = _parts(term)
    if not all(part in unit.data for part in rarest_first):
        return False
    return len(parts) == 1 or not unit.imported_names.isdisjoint(parts[-2:]) or bool(_joined(parts[-2:]).search(unit.data))


@cache
def _parts(term: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """The parts of a dotted name in order, and again longest first: long parts are rare, so the search ends sooner."""
    parts = tuple(term.split(b"."))
    return parts, tuple(sorted(parts, key=len, reverse=True))


@cache
def _joined(parts: tuple[bytes, ...]) -> re.Pattern[bytes]:
    return re.compile(rb"\s*\.\s*".join(re.escape(part) for part in parts))


def an_imported_term(unit: PythonUnit, look: Look) -> bool:
    """Whether the file imports a module that is a term."""
    return not unit.imported_names.isdisjoint(look.words)


def a_known_import(unit: PythonUnit, look: Look) -> bool:
    """Whether the file imports a module of a known package; here the terms are packages to exclude."""
    return imports_others(unit, known_modules(look))


def known_modules(look: Look) -> frozenset[bytes]:
    """Modules of known packages, except those of the repository itself and those of the terms."""
    return look.knowledge.top_level_modules(look.own.union(look.code.terms))


def imports_others(unit: PythonUnit, modules: frozenset[bytes]) -> bool:
    """Whether the file imports one of these modules, other than a package that contains the file."""
    known = unit.imported_names & modules
    return bool(known) and not known <= {*unit.path.encode().split(b"/")[:-1]}


def a_launch(unit: CudaUnit, look: Look) -> bool:  # noqa: ARG001
    """Whether `<<<` occurs, also with spaces or comments between the chevrons."""
    return b"<<<" in unit.data or _LAUNCH.search(unit.data) is not None


def a_launch_pulled_apart(unit: CudaUnit, look: Look) -> bool:
    """Whether a kernel launch has spaces or comments between its chevrons."""
    return a_launch(unit, look) and _PULLED_APART.search(unit.data) is not None
