"""Extends `#if` conditions to ROCm in a form that the isolation proof accepts: `#if defined(X) || ...`."""

from __future__ import annotations

import re
from collections.abc import Callable

from rocm3d.apply.rewrite import Refuse
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import Directive, directives

_JOINED = re.compile(r"&&|\?")
_BARE = re.compile(rb"[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b[^\n\\]*?\r?\n?")


def extend(data: bytes, wanted: Callable[[Directive], bool], clause: str) -> bytes:
    """Make each selected condition that both builds see true on ROCm as well; a negated one becomes false there."""
    unit = CudaUnit("", data)
    out, at = [], 0
    for item in directives(data):
        if item.keyword not in ("if", "ifdef", "ifndef", "elif") or not unit.is_shared(item.start) or not wanted(item):
            continue
        out += [data[at : item.start], _line(data, item, clause)]
        at = item.end
    return b"".join([*out, data[at:]])


def _line(data: bytes, item: Directive, clause: str) -> bytes:
    own = data[item.start : item.end]
    if not _BARE.fullmatch(own) or b"//" in own or b"/*" in own:
        raise Refuse("the condition has a comment or a continued line: edit it by hand")
    newline = own[len(own.rstrip(b"\r\n")) :]
    indent = own[: own.index(b"#")]
    return indent + _text(item, clause).encode() + newline


def _text(item: Directive, clause: str) -> str:
    if item.keyword == "ifdef":
        return f"#if defined({item.argument}) || {clause}"
    if item.keyword == "ifndef":
        return f"#if !defined({item.argument}) && !{_wrapped(clause)}"
    asked = item.argument if not _JOINED.search(item.argument) else f"({item.argument})"
    return f"#{item.keyword} {asked} || {clause}"


def _wrapped(clause: str) -> str:
    return f"({clause})" if "||" in clause else clause
