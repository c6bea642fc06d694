"""What the isolation proof assumes of one C++ file, besides its directives: see docs/isolation-proof.md."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm3d.syntax.directives import CONDITIONAL, blanked, directives
from rocm3d.syntax.guards import condition_text, if_chains, is_rocm_macro

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_BROKEN_SPLICE = re.compile(rb"\\[ \t\f\v]+\r?\n")
_LONE_CR = re.compile(rb"\r(?!\n)")
_TRIGRAPH = re.compile(rb"\?\?[=/]")
_DIGRAPH = re.compile(rb"^[ \t\f\v]*%:", re.MULTILINE)
_TEMPLATE = re.compile(rb"\{%-?\s*\w+")
# `__LINE__` as an argument of a message is harmless; beside an operator or in brackets it decides something.
_LINE_VALUE = re.compile(
    rb"(?:[=!<>]=|(?<!<)<(?!<)|>|[-+*/%^|\[]|(?<!&)&|\bcase|\breturn)\s*(?:\(\s*)*__LINE__\b"
    rb"|\b__LINE__\s*(?:\)\s*)*(?:[=!<>]=|<(?!<)|>(?!>)|[-+*/%^|\]]|&(?!&))"
)
# The condition of a static_assert may use a value that it does not compare itself.
_LINE_ASSERTION = re.compile(rb"static_assert\s*\([^;]{0,500}__LINE__")
_TEMPLATE_CALL = re.compile(rb"\w\s*<(?:(?!__LINE__)[^;<>()])*>(?=\s*\()")  # `static_cast<int>(`: no comparison


def text_problem(data: bytes) -> str | None:
    """Why compilers may disagree about the lines and directives of the file; None if they cannot."""
    checks = (
        (b"\0" in data, "it has a NUL byte"),
        (_LONE_CR.search(data) is not None, "a carriage return alone ends a line for some compilers"),
        (_BROKEN_SPLICE.search(data) is not None, "blanks after a backslash join lines for some compilers"),
        (_TRIGRAPH.search(data) is not None, "a trigraph is a `#` or a backslash for some compilers"),
        (_DIGRAPH.search(blanked(data)) is not None, "a directive begins with the digraph %:"),
        (_has_elifdef_with_guard(data), "older compilers do not know #elifdef and #elifndef"),
        (_has_odd_condition(data), "a condition has bytes that are not UTF-8"),
    )
    return next((reason for is_violated, reason in checks if is_violated), None)


def _has_elifdef_with_guard(data: bytes) -> bool:
    if b"elif" not in data or not any(item.keyword in ("elifdef", "elifndef") for item in directives(data)):
        return False
    return any(
        chain.mentions_rocm
        and any(b"def" in data[branch.hash_offset : branch.body_start] for branch in chain.branches[1:])
        for chain in if_chains(data)
    )


def _has_odd_condition(data: bytes) -> bool:
    return not data.isascii() and any(
        item.keyword in CONDITIONAL and "\ufffd" in item.argument for item in directives(data)
    )


def macros_in_conditions(data: bytes) -> frozenset[str]:
    """The ROCm macros in the conditions of the file: the proof assumes that they are undefined."""
    return frozenset(
        name
        for item in directives(data)
        if item.keyword in CONDITIONAL
        for name in _IDENTIFIER.findall(condition_text(item))
        if is_rocm_macro(name)
    )


def content_problems(before: bytes) -> Iterator[str]:
    """Uses of the file's text for which guarded lines are visible."""
    if b"__LINE__" in before and _uses_line_value(before):
        yield "it computes with __LINE__, which added lines change (assumption C6)"
    if _TEMPLATE.search(before):
        yield "it is a template: text between {% and %} is replaced before it is compiled (assumption C7)"


def _uses_line_value(data: bytes) -> bool:
    code = _TEMPLATE_CALL.sub(b"f", blanked(data))
    if any("__LINE__" in condition_text(item) for item in directives(data) if item.keyword in CONDITIONAL):
        return True
    # The condition of a static_assert may use a value that it does not compare itself.
    return (
        _LINE_VALUE.search(code) is not None or re.search(rb"static_assert\s*\([^;]{0,500}__LINE__", code) is not None
    )
