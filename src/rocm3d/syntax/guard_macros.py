"""Who defines or forbids a ROCm macro where an NVIDIA build sees it: sources, and text compiled at run time.

A header with `#define USE_ROCM 0` makes `defined(USE_ROCM)` true for nvcc, so a guard would select the ROCm code.
`#undef` makes true what the proof assumes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from rocm3d.syntax.cpp_tokens import ALIAS_PREFIX
from rocm3d.syntax.cuda import CUDA_SUFFIXES
from rocm3d.syntax.directives import directives
from rocm3d.syntax.guards import assume_cuda, cuda_ranges, fold_cpp, is_rocm_macro

# Text that compilers include, besides the sources that are scanned.
INCLUDED_SUFFIXES = CUDA_SUFFIXES | {
    ".c", ".hip", ".inc", ".def", ".in", ".ii", ".tcc", ".icc", ".ixx", ".cppm", ".m", ".mm", ".cl", ".tmpl", ".tpl",
}  # fmt: skip
MACRO = rb"USE_ROCM|__HIP\w*|TORCH_HIP_VERSION"
_MENTIONS_MACRO = re.compile(rb"\b(?:" + MACRO + rb")\b")
_HAS_ACTION = re.compile(rb"def|_macro|poison")
_SPLICE = re.compile(rb"\\[ \t\f\v]*\r?\n")
_OTHER_HASH = re.compile(rb"^([ \t\f\v]*)(?:%:|\?\?=)", re.MULTILINE)
_PRAGMA = re.compile(rb"(push|pop)_macro\s*\(\s*\\*\"\s*(" + MACRO + rb")\s*\\*\"")
_POISON = re.compile(rb"\bpoison\b([^\n]*)")
_IN_STRING = re.compile(r"#\s*define\s+(USE_ROCM|__HIP\w*|TORCH_HIP_VERSION)\b")
_INCLUDED = re.compile(rb"#\s*include(?:_next)?\s*[<\"]([^<>\"\n]+)[>\"]")
_INCLUDED_MACRO = re.compile(rb"#\s*include(?:_next)?\s*[A-Za-z_]")
_FILE_MACRO = re.compile(rb"#\s*define\s+\w+\s+[<\"]([\w./+-]+)[>\"]")
_ALIAS = re.compile(rb"#[ \t]*define[ \t]+" + ALIAS_PREFIX.encode())
_DEFINING = frozenset({"define", "mesondefine"})
AS_SWITCHED = "defines, as CMake's switch says,"  # the action of `#cmakedefine X`


@dataclass(frozen=True)
class GuardDefinition:
    """One place that gives a ROCm macro a meaning for NVIDIA builds."""

    macro: str
    action: str
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.action} {self.macro}"

    def is_flag_of(self, switch: bytes) -> bool:
        """Whether a build file passes `-D` with this name, which CMake takes as a setting."""
        return self.macro.encode() == switch and not is_included_text(self.path)


def is_included_text(path: str) -> bool:
    """Whether the name is that of a source or header, also one without a suffix."""
    name = PurePosixPath(path)
    return name.suffix.lower() in INCLUDED_SUFFIXES or not name.suffix


def included_names(data: bytes) -> Iterator[str]:
    """Names that the file includes and that no suffix marks as source text: `#include "flags.txt"`.

    Also those of macros, for `#define FLAGS "flags.txt"` and `#include FLAGS`.
    """
    names = _INCLUDED.findall(data)
    if _INCLUDED_MACRO.search(data):
        names += _FILE_MACRO.findall(data)
    for name in names:
        text = name.decode("utf-8", "replace").rpartition("/")[2]
        if not is_included_text(text):
            yield text


def source_definitions(path: str, data: bytes) -> Iterator[GuardDefinition]:
    """Definitions in one source that its ROCm-only branches do not contain."""
    # Splices inside a name hide it from the search, but not from a compiler.
    joined = _SPLICE.sub(b"", data)
    if not (_MENTIONS_MACRO.search(joined) and _HAS_ACTION.search(joined)):
        return
    text = _OTHER_HASH.sub(rb"\1# ", data)
    yield from _directive_definitions(path, text)
    actions = [(match, match[2], "saves or restores") for match in _PRAGMA.finditer(text)]
    actions += [
        (match, macro, "forbids") for match in _POISON.finditer(text) for macro in _MENTIONS_MACRO.findall(match[1])
    ]
    for match, macro, action in actions:
        yield GuardDefinition(macro.decode(), action, path, text.count(b"\n", 0, match.start()) + 1)


def _directive_definitions(path: str, text: bytes) -> Iterator[GuardDefinition]:
    live: list[tuple[int, int]] | None = None
    for directive in directives(text):
        keyword, words = directive.keyword, directive.argument.replace("(", " ").split()
        if keyword == "cmakedefine" and words[:1] == ["01"]:  # `#cmakedefine01 X` always defines X, as 0 or 1
            keyword, words = "define", words[1:]
        action = AS_SWITCHED if keyword == "cmakedefine" else "defines"
        if keyword not in _DEFINING | {"cmakedefine"} or not words or not is_rocm_macro(words[0]):
            continue
        live = cuda_ranges(text) if live is None else live
        index = bisect_right(live, (directive.start, len(text) + 1)) - 1
        if index >= 0 and live[index][0] <= directive.start < live[index][1]:
            line = text.count(b"\n", 0, directive.start) + 1
            yield GuardDefinition(words[0], action, path, line)


def string_definitions(path: str, line: int, text: str) -> Iterator[GuardDefinition]:
    """Definitions in source text that a program compiles at run time."""
    for macro in _IN_STRING.findall(text):
        yield GuardDefinition(macro, "defines", path, line)


def alias_definitions(data: bytes) -> Iterator[tuple[str, str]]:
    """Macros named as those of a port, with the text that NVIDIA builds define them as."""
    if not _ALIAS.search(data):
        return
    for directive in directives(fold_cpp(data, assume_cuda)):
        if directive.keyword == "define" and directive.argument.startswith(ALIAS_PREFIX):
            name = directive.argument.replace("(", " ").split()[0]
            yield name, " ".join(directive.argument.split())
