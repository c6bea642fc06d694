"""Extends `#if` conditions to ROCm in a form that the isolation proof accepts: `#if defined(X) || ...`."""

from __future__ import annotations

import re
from collections.abc import Callable

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import Directive, directives

_NEEDS_PARENTHESES = re.compile(r"&&|\?")
_PLAIN_CONDITION = re.compile(rb"[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b[^\n\\]*?\r?\n?")


def extend_conditions(data: bytes, should_extend: Callable[[Directive], bool], clause: str) -> bytes:
    """Make each selected condition that both builds see true on ROCm as well; a negated one becomes false there."""
    unit = CudaUnit("", data)
    out, copied_to = [], 0
    for directive in directives(data):
        if (
            directive.keyword not in ("if", "ifdef", "ifndef", "elif")
            or not unit.is_shared(directive.start)
            or not should_extend(directive)
        ):
            continue
        out += [data[copied_to : directive.start], _extended_line(data, directive, clause)]
        copied_to = directive.end
    return b"".join([*out, data[copied_to:]])


def _extended_line(data: bytes, directive: Directive, clause: str) -> bytes:
    line = data[directive.start : directive.end]
    if not _PLAIN_CONDITION.fullmatch(line) or b"//" in line or b"/*" in line:
        raise RewriteRefusedError("the condition has a comment or a continued line: edit it by hand")
    newline = line[len(line.rstrip(b"\r\n")) :]
    indent = line[: line.index(b"#")]
    return indent + _extended_condition(directive, clause).encode() + newline


def _extended_condition(directive: Directive, clause: str) -> str:
    if directive.keyword == "ifdef":
        return f"#if defined({directive.argument}) || {clause}"
    if directive.keyword == "ifndef":
        return f"#if !defined({directive.argument}) && !{_parenthesized(clause)}"
    condition = directive.argument if not _NEEDS_PARENTHESES.search(directive.argument) else f"({directive.argument})"
    return f"#{directive.keyword} {condition} || {clause}"


def _parenthesized(clause: str) -> str:
    return f"({clause})" if "||" in clause else clause
