"""Compiler flags in Python build scripts: text, position, and whether they are for the host compiler only.

A flag can be a list element, an appended value, part of a longer string, or a formatted string whose end is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from tree_sitter import Node


_PLACEHOLDER = "{}"  # stands for an interpolated value of a formatted string

_WINDOWS = re.compile(r"win32|windows|['\"]nt['\"]|\bis_win\b|\bmsvc\b", re.IGNORECASE)
_NEGATED = re.compile(r"\bnot\b|!=")
_NOT_COMPILED = re.compile(r"(print|replace|(starts|ends)with|remove|index|count|warn|warning|error|info|debug)$")
_HOST = re.compile(r"(?i)(.*cxx.*|c_?flags|.*extra_cflags|cpp_?flags)$")


@dataclass(frozen=True)
class CompilerFlag:
    """One compiler flag. `text` has `{}` in place of interpolated values."""

    text: str
    line: int
    column: int
    node: Node
    is_guarded: bool  # inside a condition that distinguishes ROCm from CUDA
    is_host_only: bool  # passed to the host compiler only

    def matching_prefix(self, prefixes: Iterable[str]) -> str | None:
        """The longest prefix that the flag starts with, or may start with if its end is interpolated."""
        head, placeholder, _ = self.text.partition(_PLACEHOLDER)
        head, percent, _ = head.partition("%")
        is_open = len(head) > 5 and bool(placeholder or percent or head.endswith("="))
        matching = [
            prefix for prefix in prefixes if self.text.startswith(prefix) or (is_open and prefix.startswith(head))
        ]
        return max(matching, key=len, default=None)


@lru_cache(maxsize=1)
def compiler_flags(unit: PythonUnit) -> tuple[CompilerFlag, ...]:
    """The flags of a script that builds torch extensions, from strings whose first word starts with a dash.

    Cached because several rules ask for the same file in turn.
    """
    return tuple(_compiler_flags(unit)) if unit.builds_extensions else ()


def _compiler_flags(unit: PythonUnit) -> Iterator[CompilerFlag]:
    windows_ranges, unused_ids, host_ranges = _windows_ranges(unit), _unused_string_ids(unit), _host_ranges(unit)
    for node in unit.nodes("string"):
        if _is_within(node, windows_ranges) or node.id in unused_ids:
            continue
        words = list(_words(unit, node))
        if not words or not words[0][0].startswith("-"):
            continue
        guarded, is_host = unit.is_guarded(node), _is_within(node, host_ranges)
        for text, offset in words:
            if text.startswith("-"):
                line, column = unit.text.position(offset)
                yield CompilerFlag(text, line, column, node, guarded, is_host)


def _words(unit: PythonUnit, node: Node) -> Iterator[tuple[str, int]]:
    """The words of a string literal with byte offsets; the first word has the offset of the literal."""
    pieces: list[tuple[int, int]] = []  # index in the text, byte offset
    text = ""
    for child in node.named_children:
        if child.type in ("string_content", "interpolation"):
            pieces.append((len(text), child.start_byte))
            text += _PLACEHOLDER if child.type == "interpolation" else unit.slice(child)
    for match in re.finditer(r"\S+", text):
        index, offset = max((piece for piece in pieces if piece[0] <= match.start()), default=(0, node.start_byte))
        word_offset = offset + len(text[index : match.start()].encode())
        yield match.group(), word_offset if match.start() else node.start_byte


def _is_within(node: Node, ranges: list[tuple[int, int]]) -> bool:
    return any(start <= node.start_byte and node.end_byte <= end for start, end in ranges)


def _windows_ranges(unit: PythonUnit) -> list[tuple[int, int]]:
    """Byte ranges of branches that run on Windows only."""
    ranges = []
    for node in unit.nodes("if_statement", "elif_clause", "conditional_expression"):
        if node.type == "conditional_expression":
            parts: list[Node | None] = list(node.named_children) if len(node.named_children) == 3 else []
            if_true, condition, if_false = parts or (None, None, None)
        else:
            condition = node.child_by_field_name("condition")
            if_true, if_false = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        condition_text = "" if condition is None else unit.slice(condition)
        branch = if_false if _NEGATED.search(condition_text) else if_true
        if branch is not None and _WINDOWS.search(condition_text):
            ranges.append((branch.start_byte, branch.end_byte))
    return ranges


def _unused_string_ids(unit: PythonUnit) -> set[int]:
    """Ids of nodes that never reach a compiler: docstrings, compared or printed strings, subscripts, keys."""
    ids: set[int] = set()
    for node in unit.nodes("expression_statement", "comparison_operator", "subscript", "raise_statement", "pair"):
        inner = [node.child_by_field_name("key")] if node.type == "pair" else node.named_children
        ids |= {child.id for child in inner if child is not None}
    for call in unit.nodes("call"):
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is not None and arguments is not None and _NOT_COMPILED.search(unit.tail(function)):
            ids |= {child.id for child in arguments.named_children}
    return ids


def _host_ranges(unit: PythonUnit) -> list[tuple[int, int]]:
    """Byte ranges of values that go to the host compiler, by their key or variable name."""
    ranges = []
    sides = {"pair": ("key", "value"), "keyword_argument": ("name", "value")}
    for node in unit.nodes("pair", "keyword_argument", "assignment", "augmented_assignment"):
        left, right = (node.child_by_field_name(side) for side in sides.get(node.type, ("left", "right")))
        if left is None or right is None:
            continue
        if left.type == "subscript":
            left = left.child_by_field_name("subscript") or left
        if _HOST.match(unit.slice(left).strip("\"'")):
            ranges.append((right.start_byte, right.end_byte))
    return ranges
