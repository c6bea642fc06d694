"""Edits of C++ text for ROCm builds: guarded copies of lines, guarded insertions, and extended conditions.

A guarded copy is `#if` ROCm lines `#else` original lines `#endif`, never with a directive inside a call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tree_sitter import Node

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.model.recipe import Parameters
from rocm3d.model.text import Text
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import Directive, blanked, directives

# torch's BuildExtension defines USE_ROCM for every source; other builds may define only the platform macro.
_GUARDS = {"torch": b"defined(USE_ROCM)", "any": b"defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)"}
# Longer copies are unreadable: such edits need a macro alias, or a manual edit.
_MAX_COPIED_LINES = 24
# A function or block up to this length is copied completely.
_MAX_BRACE_LINES = 8
_HEADER = re.compile(r'[<"]([^>"\n]+)[>"]')
_NEEDS_PARENTHESES = re.compile(r"&&|\?")
_PLAIN_CONDITION = re.compile(rb"[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b[^\n\\]*?\r?\n?")
# C++ helpers for ROCm, one function or type each.
_HELPERS = Path(__file__).parent / "device"
# Helpers that must be defined before the helper that calls them.
_DEPENDENCIES = {"match_any": ("wave_peers",), "labeled_partition": ("wave_peers",)}


@dataclass(frozen=True)
class Replacement:
    """Bytes [start, end) of the file, and their replacement in a ROCm build."""

    start: int
    end: int
    text: bytes

    @classmethod
    def of(cls, node: Node, text: str) -> Replacement:
        return cls(node.start_byte, node.end_byte, text.encode())


@dataclass(frozen=True)
class LineReplacement:
    """Complete lines at bytes [start, end), and their replacement in a ROCm build; None removes them there."""

    start: int
    end: int
    rocm: str | None


@dataclass(frozen=True)
class _Block:
    """Complete lines at bytes [start, end), and the replacements in them."""

    start: int
    end: int
    replacements: tuple[Replacement, ...]


def guard_condition(parameters: Parameters) -> bytes:
    """The preprocessor condition of a ROCm build, chosen by the parameter `guard` of the recipe or the plan."""
    return _GUARDS[str(parameters.get("guard", "any"))]


def guard_lines(data: bytes, replacements: Iterable[Replacement], parameters: Parameters) -> bytes:
    """Make each replacement in a guarded copy of its lines. Lines inside one pair of parentheses stay together."""
    ordered = sorted(replacements, key=lambda item: item.start)
    if not ordered:
        return data
    newline = Text(data).newline
    out, copied_to = [], 0
    for block in _blocks(data, ordered):
        out += [data[copied_to : block.start], b"#if ", guard_condition(parameters), newline, _rocm_lines(data, block)]
        out += [b"#else", newline, data[block.start : block.end], b"#endif", newline]
        copied_to = block.end
    return b"".join([*out, data[copied_to:]])


def replace_lines(data: bytes, replacements: Iterable[LineReplacement], parameters: Parameters) -> bytes:
    """Put each range of lines behind the guard; the lines may contain directives."""
    newline, condition = Text(data).newline, guard_condition(parameters)
    out, copied_to = [], 0
    for item in sorted(replacements, key=lambda item: item.start):
        original = data[item.start : item.end]
        if not original.endswith(b"\n") or item.start < copied_to:
            raise RewriteRefusedError(
                "the last line has no newline" if item.start >= copied_to else "two edits overlap"
            )
        if item.rocm is None:
            parts = [b"#if ", not_rocm_condition(parameters), newline, original]
        else:
            rocm = item.rocm.encode().replace(b"\n", newline)
            parts = [b"#if ", condition, newline, rocm, b"#else", newline, original]
        out += [data[copied_to : item.start], *parts, b"#endif", newline]
        copied_to = item.end
    return b"".join([*out, data[copied_to:]])


def not_rocm_condition(parameters: Parameters) -> bytes:
    """The preprocessor condition of all other builds."""
    return b" && ".join(b"!" + part for part in guard_condition(parameters).split(b" || "))


def insert_guarded(data: bytes, text: str, parameters: Parameters, before: int | None = None) -> bytes:
    """Insert lines for ROCm builds only, after the last top-level include in front of offset `before`."""
    newline, offset = Text(data).newline, offset_after_includes(data, before)
    body = text.encode().replace(b"\n", newline)
    return b"".join(
        [data[:offset], b"#if ", guard_condition(parameters), newline, body, b"#endif", newline, data[offset:]]
    )


def insert_helpers(data: bytes, names: Iterable[str], parameters: Parameters, uses: Sequence[Replacement]) -> bytes:
    """Insert helpers above the first use; `uses` are replacements that call them."""
    return insert_guarded(data, helper_sources(names), parameters, min(use.start for use in uses))


def helper_sources(names: Iterable[str]) -> str:
    """The named helpers and their dependencies. Each is compiled by HIP only, and once per translation unit."""
    ordered = dict.fromkeys(part for name in names for part in (*_DEPENDENCIES.get(name, ()), name))
    return "".join(defined_once(name, read_helper(name)) for name in ordered)


def defined_once(name: str, text: str) -> str:
    """The text with an include guard of this name."""
    macro = f"ROCM3D_HAS_{name.upper()}"
    return f"#if defined(__HIP__) && !defined({macro})\n#define {macro}\n{text}#endif\n"


@cache
def read_helper(name: str) -> str:
    return (_HELPERS / f"{name}.h").read_text(encoding="utf-8")


def find_definition(code: bytes, name: str) -> re.Match[bytes] | None:
    """The `#define` of a macro in blanked text."""
    return re.search(rb"#[ \t]*define[ \t]+" + re.escape(name.encode()) + rb"\b", code)


def shared_matches(unit: CudaUnit, pattern: re.Pattern[bytes]) -> list[re.Match[bytes]]:
    """Matches in code that both builds see."""
    return [match for match in pattern.finditer(blanked(unit.data)) if unit.is_shared(match.start())]


def includes(data: bytes) -> Iterator[tuple[Directive, str]]:
    """Each include with the name of its header."""
    for directive in directives(data):
        if directive.keyword == "include":
            header = _HEADER.match(directive.argument)
            yield directive, header.group(1) if header else ""


def shared_includes(unit: CudaUnit) -> list[tuple[Directive, str]]:
    """Includes that both builds see."""
    return [(directive, header) for directive, header in includes(unit.data) if unit.is_shared(directive.start)]


def without_includes(data: bytes) -> bytes:
    """The text with comments, strings and includes replaced by spaces; the length stays the same."""
    text = bytearray(blanked(data))
    for directive, _ in includes(data):
        text[directive.start : directive.end] = b" " * (directive.end - directive.start)
    return bytes(text)


def hidden_lines(spans: Iterable[Directive]) -> list[LineReplacement]:
    """Removes the lines on ROCm; adjacent lines share a guard."""
    joined: list[LineReplacement] = []
    for span in spans:
        start = joined.pop().start if joined and joined[-1].end == span.start else span.start
        joined.append(LineReplacement(start, span.end, None))
    return joined


def offset_after_includes(data: bytes, before: int | None = None) -> int:
    """Where to insert helpers: the start of the line after the last top-level include in front of offset `before`."""
    open_conditionals: list[bool] = []  # for each open #if: whether it contains an include
    offset = 0
    for directive in _without_include_guard(data):
        if before is not None and directive.start >= before:
            break
        if directive.keyword in ("if", "ifdef", "ifndef"):
            open_conditionals.append(False)
        elif directive.keyword == "endif" and open_conditionals:
            if open_conditionals.pop() and not open_conditionals:
                offset = directive.end
        elif directive.keyword == "include" and not open_conditionals:
            offset = directive.end
        elif directive.keyword == "include":
            open_conditionals = [True] * len(open_conditionals)
        elif directive.keyword == "pragma" and directive.argument == "once":
            offset = max(offset, directive.end)
    return _checked_offset(data, offset)


def _without_include_guard(data: bytes) -> list[Directive]:
    """The file's directives. An include guard around the complete file counts as `#pragma once`."""
    all_directives = directives(data)
    if len(all_directives) > 2 and all_directives[0].keyword == "ifndef" and all_directives[1].keyword == "define":
        depth, ends = 0, -1
        for index, directive in enumerate(all_directives):
            depth += {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}.get(directive.keyword, 0)
            if depth == 0:
                ends = index
                break
        if all_directives[0].argument == all_directives[1].argument and ends == len(all_directives) - 1:
            return [Directive("pragma", "once", all_directives[1].start, all_directives[1].end), *all_directives[2:-1]]
    return all_directives


def _checked_offset(data: bytes, offset: int) -> int:
    code = blanked(data)[:offset]
    if offset and not data[:offset].endswith(b"\n"):
        raise RewriteRefusedError("the last include has no newline")
    if code.count(b"{") != code.count(b"}"):
        raise RewriteRefusedError("the last include is inside braces")
    return offset


def _blocks(data: bytes, replacements: Sequence[Replacement]) -> list[_Block]:
    code = blanked(data)
    spans = [(item.start, item.end) for item in directives(data)]
    blocks: list[_Block] = []
    for item in replacements:
        start, end = _whole_lines(code, item.start, item.end)
        end = _end_of_braces(code, start, end)
        if any(first < end and start < last for first, last in spans):
            raise RewriteRefusedError("the lines contain a preprocessor directive")
        if blocks and _joins_block(data, blocks[-1], start, end):
            previous = blocks.pop()
            start, end = previous.start, max(end, previous.end)
            blocks.append(_Block(start, end, (*previous.replacements, item)))
        else:
            blocks.append(_Block(start, end, (item,)))
    for block in blocks:
        if data.count(b"\n", block.start, block.end) > _MAX_COPIED_LINES:
            raise RewriteRefusedError(f"the guarded copy would have more than {_MAX_COPIED_LINES} lines")
        if not data[: block.end].endswith(b"\n"):
            raise RewriteRefusedError("the last line has no newline")
    return blocks


def _joins_block(data: bytes, previous: _Block, start: int, end: int) -> bool:
    """Whether the lines overlap the block, or follow it directly and keep it within the length limit."""
    touches = start == previous.end and data.count(b"\n", previous.start, end) <= _MAX_COPIED_LINES
    return start < previous.end or touches


def _whole_lines(code: bytes, start: int, end: int) -> tuple[int, int]:
    """The range, extended to complete lines until no parenthesis is open at either end."""
    first = code.rfind(b"\n", 0, start) + 1
    while first > 0 and _open_parentheses(code, first) > 0:
        first = code.rfind(b"\n", 0, first - 1) + 1
    depth = 0
    last = first
    while last < len(code):
        newline = code.find(b"\n", last)
        stop = len(code) if newline < 0 else newline + 1
        depth += code.count(b"(", last, stop) - code.count(b")", last, stop)
        last = stop
        if last >= end and depth <= 0:
            break
    return first, last


def _end_of_braces(code: bytes, start: int, end: int) -> int:
    """Extend lines that open a brace to its closing brace, if it is near: a branch is easier to read with both."""
    depth, last = 0, start
    for _ in range(_MAX_BRACE_LINES):
        newline = code.find(b"\n", last)
        stop = len(code) if newline < 0 else newline + 1
        for sign in re.findall(rb"[{}#]", code[last:stop]):
            depth += {b"{": 1, b"}": -1}.get(sign, 0)
            if depth < 0 or sign == b"#":
                return end
        last = stop
        if last >= end and depth == 0:
            return last
    return end


def _open_parentheses(code: bytes, offset: int) -> int:
    """Open parentheses at an offset, counted from the last line that starts with `}`: none is open there."""
    begin = code.rfind(b"\n}", 0, offset) + 1
    return code.count(b"(", begin, offset) - code.count(b")", begin, offset)


def _rocm_lines(data: bytes, block: _Block) -> bytes:
    out, copied_to = [], block.start
    for item in sorted(block.replacements, key=lambda item: item.start):
        if item.start < copied_to:
            raise RewriteRefusedError("two edits overlap")
        out += [data[copied_to : item.start], item.text]
        copied_to = item.end
    return b"".join([*out, data[copied_to : block.end]])


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
