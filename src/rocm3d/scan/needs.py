"""Cheap questions that come before the parse: a file for which the answer is no cannot have a hit of the rule.

Each is for rules that compare text of the file with what the question looks for. In doubt the answer is yes.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.manifest.manifest import Manifest
    from rocm3d.scan.detector import Look
    from rocm3d.syntax.cuda import CudaUnit
    from rocm3d.syntax.python import PythonUnit

_WORD = re.compile(rb"\w+")
_APART = rb"(?:\s|\\|/\*[^*]*\*/)*"
_LAUNCH = re.compile(rb"<" + _APART + rb"<" + _APART + rb"<")
# Spaces between three chevrons, or comments between two. Not any number of comments: each may hold a chevron itself.
_PULLED_APART = re.compile(
    rb"([<>])(?:\1[\s\\]+|[\s\\]+\1[\s\\]*)\1|([<>])(?:[\s\\]*(?:/\*[^*]*\*/|//[^\n]*\n)){1,8}[\s\\]*\2"
)


def a_term(unit: CudaUnit | PythonUnit | Manifest, look: Look) -> bool:
    """One of the code's terms, as it is written."""
    return any(word in unit.data for word in look.words)


def a_first_word(unit: CudaUnit | PythonUnit, look: Look) -> bool:
    """The first word of a term."""
    return any(word in unit.data for term in look.words for word in _WORD.findall(term)[:1])


def a_qualified_name(unit: CudaUnit, look: Look) -> bool:
    """A term, where it has colons with or without spaces around them."""
    return any(_WORD.findall(term)[0] in unit.data and _spaced(term).search(unit.data) for term in look.words)


@cache
def _spaced(term: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\s*::\s*".join(re.escape(part) for part in term.split(b"::")))


def a_dotted_name(unit: PythonUnit, look: Look) -> bool:
    """A term such as torch.version.cuda, or an import that gives one of its last two parts another name."""
    return any(_may_be_named(unit, term) for term in look.words)


def _may_be_named(unit: PythonUnit, term: bytes) -> bool:
    parts, rarest_first = _parts(term)
    if not all(part in unit.data for part in rarest_first):
        return False
    return len(parts) == 1 or not unit.imported.isdisjoint(parts[-2:]) or bool(_joined(parts[-2:]).search(unit.data))


@cache
def _parts(term: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """The parts of a dotted name as they stand, and once more with the longest first: few files have that one."""
    parts = tuple(term.split(b"."))
    return parts, tuple(sorted(parts, key=len, reverse=True))


@cache
def _joined(parts: tuple[bytes, ...]) -> re.Pattern[bytes]:
    return re.compile(rb"\s*\.\s*".join(re.escape(part) for part in parts))


def an_imported_term(unit: PythonUnit, look: Look) -> bool:
    """An import of a module that a term names."""
    return not unit.imported.isdisjoint(look.words)


def a_known_import(unit: PythonUnit, look: Look) -> bool:
    """An import of a module of a package; the terms name packages that are left out."""
    return imports_others(unit, known_modules(look))


def known_modules(look: Look) -> frozenset[bytes]:
    """The modules of packages, without those that the repository is itself and those that the terms name."""
    return look.knowledge.modules(look.own.union(look.code.terms))


def imports_others(unit: PythonUnit, modules: frozenset[bytes]) -> bool:
    """An import of one of these modules; a file inside a package may import that package."""
    known = unit.imported & modules
    return bool(known) and not known <= {*unit.path.encode().split(b"/")[:-1]}


def a_launch(unit: CudaUnit, look: Look) -> bool:  # noqa: ARG001
    """The start of a launch, also where the formatter has pulled it apart."""
    return b"<<<" in unit.data or _LAUNCH.search(unit.data) is not None


def a_launch_pulled_apart(unit: CudaUnit, look: Look) -> bool:
    """A launch, and chevrons with something between them."""
    return a_launch(unit, look) and _PULLED_APART.search(unit.data) is not None
