"""Parses errors of clang and nvcc. Only text at the start of a line counts; the rest is decoration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm3d.model.verdict import CompilerNote, Diagnostic

INCLUDED = "included from here"
# One line per message, every step of an instantiation, and no early stop: a name that one header does not declare may
# be used a hundred times.
FLAGS = (
    "-w",
    "-ferror-limit=1000",
    "-fno-color-diagnostics",
    "-fno-caret-diagnostics",
    "-fno-diagnostics-fixit-info",
    "-ftemplate-backtrace-limit=0",
)
_LINE = re.compile(
    r"^(?P<path>[^\s:][^:\n]*):(?P<line>\d+):(?P<column>\d+): (?P<kind>(?:fatal )?error|note): (?P<text>.*)$"
)
_NVCC = re.compile(
    r"^(?P<path>[^\s(][^(\n]*)\((?P<line>\d+)\): (?P<kind>(?:catastrophic )?error)(?: #\S+)?: (?P<text>.*)$"
)
_FROM = re.compile(r"^(?:In file included| {5,}) *from (?P<path>[^:\n]+):(?P<line>\d+)[:,]")
_WITHOUT_POSITION = re.compile(
    r"^(?:clang(?:\+\+)?(?:-\d+)?: |zig: |nvcc fatal *: |ptxas fatal *: )?(?:fatal )?error: (?P<text>.*)$"
)
_UNKNOWN = re.compile(r"(?:unknown argument|unsupported option|unsupported argument)[^']*'(?P<flag>[^']+)'")
_NVCC_MISSING = re.compile(r"fatal error: (?P<header>\S+): No such file or directory")
_MISSING = re.compile(r"'(?P<header>[^']+)' file not found|cannot open source file \"(?P<other>[^\"]+)\"")


def parse_errors(text: str) -> tuple[Diagnostic, ...]:
    """All errors with their notes. The include stack comes first among the notes."""
    diagnostics: list[Diagnostic] = []
    included: list[CompilerNote] = []
    for line in text.splitlines():
        stack = _FROM.match(line)
        if stack:
            included.append(CompilerNote(path=stack["path"], line=int(stack["line"]), message=INCLUDED))
            continue
        match = _LINE.match(line) or _NVCC.match(line)
        if match is None:
            bare = _WITHOUT_POSITION.match(line)
            if bare and "errors generated" not in bare["text"]:
                diagnostics.append(Diagnostic(path="", line=0, column=0, message=bare["text"]))
        elif match["kind"] == "note":
            if diagnostics:
                remark = CompilerNote(path=match["path"], line=int(match["line"]), message=match["text"])
                diagnostics[-1] = diagnostics[-1].model_copy(update={"remarks": (*diagnostics[-1].remarks, remark)})
        else:
            # Compilers print the innermost include last; we store it first.
            column = int(match.groupdict().get("column") or 0)
            diagnostics.append(
                Diagnostic(
                    path=match["path"],
                    line=int(match["line"]),
                    column=column,
                    message=match["text"],
                    remarks=tuple(reversed(included)),
                )
            )
        included = []
    return tuple(dict.fromkeys(diagnostics))


def missing_header(error: Diagnostic) -> str | None:
    """The header that the error reports as not found; None for other errors."""
    match = _MISSING.search(error.message) or _NVCC_MISSING.search(f"fatal error: {error.message}")
    return None if match is None else next(group for group in match.groups() if group)


def unknown_flags(text: str) -> Iterator[str]:
    """Flags that the compiler reports as unknown or unsupported."""
    for error in parse_errors(text):
        match = _UNKNOWN.search(error.message)
        if match:
            yield match["flag"]
