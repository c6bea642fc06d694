"""The isolation proof: an edited file is unchanged for NVIDIA builds."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath
from typing import Any

from rocm3d.model.patch import Proof
from rocm3d.model.toml import TomlError, parse
from rocm3d.syntax import cmake_fold, cuda
from rocm3d.syntax.closed_list import EDIT_MARKERS, listed_edits, without_added_include
from rocm3d.syntax.cpp_tokens import TokenComparisonError, differs_only_as_allowed, token_stream
from rocm3d.syntax.directives import CONDITIONAL, blanked, directives
from rocm3d.syntax.guards import assume_cuda, fold_cpp, is_rocm_macro
from rocm3d.syntax.python_fold import PythonFoldError, folded_dump

# The text alone cannot prove this.
_NEXT_STEP = "compare PTX and host object with nvcc: rocm3d verify . --level nvidia"
IGNORE_FILE, MANIFEST_FILE, PROJECT_FILE = ".gitignore", "MANIFEST.in", "pyproject.toml"
_PRUNE = re.compile(rb"prune [\w./+-]+")
# hatchling's table of sdist excludes.
SDIST_TABLE = ("tool", "hatch", "build", "targets", "sdist")
_EXCLUDE = re.compile(rb'exclude = \["/[\w./+-]+"\]')
BLOCK_BEGIN, BLOCK_END = b"# rocm3d begin", b"# rocm3d end"


def prove_isolation(path: str, before: bytes, after: bytes) -> Proof:
    """Compare both versions as NVIDIA builds see them. If a comparison is not possible, the proof does not hold."""
    name, suffix = PurePosixPath(path).name, PurePosixPath(path).suffix
    by_name = {MANIFEST_FILE: _prove_manifest_file, PROJECT_FILE: _prove_project_file, "CMakeLists.txt": _prove_cmake}
    if name in by_name:
        return by_name[name](before, after)
    if path.endswith(IGNORE_FILE):
        return _prove_ignore_file(before, after)
    by_suffix = {".py": _prove_python, ".cmake": _prove_cmake, **dict.fromkeys(cuda.CUDA_SUFFIXES, _prove_cpp)}
    if suffix in by_suffix:
        return by_suffix[suffix](before, after)
    return Proof(kind="cpp-directives-evaluated", holds=False, detail=f"no proof method for {suffix or path}")


def _prove_cpp(before: bytes, after: bytes) -> Proof:
    kind = "cpp-directives-evaluated"
    redefined = _redefined_guards(before) | _redefined_guards(after)
    if redefined:
        return Proof(kind=kind, holds=False, detail=f"the file itself defines {', '.join(sorted(redefined))}")
    inside_calls = _directives_inside_calls(after) - _directives_inside_calls(before)
    if inside_calls:
        return Proof(kind=kind, holds=False, detail=f"directive inside parentheses: {min(inside_calls)}")
    old, new = fold_cpp(before, assume_cuda), fold_cpp(after, assume_cuda)
    if old == new:
        return Proof(
            kind=kind,
            holds=True,
            detail="NVIDIA builds see the same code (proven: same bytes with USE_ROCM and __HIP* macros undefined)",
        )
    return _prove_cpp_tokens(old, new)


def _prove_cpp_tokens(old: bytes, new: bytes) -> Proof:
    """Compare tokens, for edits that use a macro alias or spell a condition differently."""
    kind = "cpp-tokens-equal"
    try:
        old_tokens, new_tokens = token_stream(old, old), token_stream(new, old)
        is_same = old_tokens == new_tokens and differs_only_as_allowed(old, new)
    except TokenComparisonError as error:
        return Proof(kind=kind, holds=False, detail=str(error))
    if is_same:
        return Proof(kind=kind, holds=True, detail="same tokens with USE_ROCM and every __HIP* macro undefined")
    edits = listed_edits(old_tokens, new_tokens) if old_tokens != new_tokens else None
    if edits is None or not differs_only_as_allowed(old, without_added_include(old, new), EDIT_MARKERS):
        return Proof(kind=kind, holds=False, detail="with all ROCm macros undefined the file differs from the original")
    edit_counts = ", ".join(f"{name} ({count})" for name, count in sorted(edits.items()))
    return Proof(kind="closed-list", holds=True, detail=f"without ROCm only {edit_counts} differ; {_NEXT_STEP}")


def _prove_ignore_file(before: bytes, after: bytes) -> Proof:
    """Ignore patterns in one marked block at the end; none of them negates an earlier pattern."""
    kind = "ignore-lines-appended"
    lines = _appended_block(before, after)
    if lines is None or any(line.startswith((b"!", BLOCK_BEGIN, BLOCK_END)) for line in lines):
        return Proof(kind=kind, holds=False, detail="more changed than one marked block at the end")
    return Proof(kind=kind, holds=True, detail="only adds one marked block of ignore patterns at the end")


def _prove_manifest_file(before: bytes, after: bytes) -> Proof:
    """One folder excluded from the source distribution, in a marked block at the end; nothing is included."""
    kind = "ignore-lines-appended"
    lines = _appended_block(before, after)
    if lines is None or len(lines) > 1 or not all(_PRUNE.fullmatch(line) for line in lines):
        return Proof(kind=kind, holds=False, detail="more changed than one excluded folder at the end")
    return Proof(kind=kind, holds=True, detail="only excludes one folder from the source distribution")


def _prove_project_file(before: bytes, after: bytes) -> Proof:
    """One folder excluded from hatchling's source distribution by a new table; all other settings are the same."""
    kind = "ignore-lines-appended"
    heading = f"[{'.'.join(SDIST_TABLE)}]".encode()
    lines = _appended_block(before, after)
    if lines is None or (lines and not (lines[0] == heading and len(lines) == 2 and _EXCLUDE.fullmatch(lines[1]))):
        return Proof(kind=kind, holds=False, detail="more changed than one excluded folder at the end")
    try:
        is_same = not lines or _without_exclude(parse(after)) == parse(before)
    except TomlError as error:
        return Proof(kind=kind, holds=False, detail=str(error))
    detail = "only excludes one folder from the source distribution"
    return Proof(kind=kind, holds=is_same, detail=detail if is_same else "other settings differ from the original")


def _without_exclude(document: dict[str, Any]) -> dict[str, Any]:
    """The document without the exclude setting and without tables that become empty."""
    tables = [document]
    for name in SDIST_TABLE:
        tables.append(tables[-1][name])
    del tables[-1]["exclude"]
    for name, table in zip(reversed(SDIST_TABLE), reversed(tables[:-1]), strict=True):
        if table[name] == {}:
            del table[name]
    return document


def _appended_block(before: bytes, after: bytes) -> list[bytes] | None:
    """The lines of one marked block at the end; an empty list if nothing changed, None if anything else did."""
    if after == before:
        return []
    ends_with_newline = before.endswith(b"\n") or not before
    for start in (before,) if ends_with_newline else (before + b"\n", before + b"\r\n"):
        lines = after[len(start) :].splitlines()
        if after.startswith(start) and lines[:1] == [BLOCK_BEGIN] and lines[-1:] == [BLOCK_END] and len(lines) > 1:
            return lines[1:-1]
    return None


def _prove_cmake(before: bytes, after: bytes) -> Proof:
    kind = "cmake-guard-folded"
    try:
        is_same = cmake_fold.fold_cmake(before) == cmake_fold.fold_cmake(after)
    except cmake_fold.CMakeFoldError as error:
        return Proof(kind=kind, holds=False, detail=str(error))
    if not is_same:
        return Proof(kind=kind, holds=False, detail="with USE_ROCM off the file differs from the original")
    return Proof(kind=kind, holds=True, detail="NVIDIA builds see the same code (proven: same bytes with USE_ROCM off)")


def _directives_inside_calls(data: bytes) -> Counter[str]:
    """Conditional directives inside parentheses: undefined behaviour in C++ in the call of a macro like AT_DISPATCH."""
    code, depth, offset = blanked(data), 0, 0
    counts: Counter[str] = Counter()
    open_depths: list[int] = []
    for directive in directives(data):
        text = code[offset : directive.start]
        depth += text.count(b"(") - text.count(b")")
        offset = directive.end
        if directive.keyword not in CONDITIONAL:
            continue
        if directive.keyword in ("if", "ifdef", "ifndef"):
            open_depths.append(depth)
        elif open_depths and directive.keyword == "endif":
            open_depths.pop()
        elif open_depths:
            depth = open_depths[-1]  # every branch starts at the depth of the first
        if depth > 0:
            counts[f"#{directive.keyword} {directive.argument}".rstrip()] += 1
    return counts


def _redefined_guards(data: bytes) -> set[str]:
    names = (
        directive.argument.split("(")[0].split()
        for directive in directives(data)
        if directive.keyword in ("define", "undef")
    )
    return {name[0] for name in names if name and is_rocm_macro(name[0])}


def _prove_python(before: bytes, after: bytes) -> Proof:
    kind = "python-guard-folded"
    try:
        is_same = folded_dump(before, before) == folded_dump(after, before)
    except PythonFoldError as error:
        return Proof(kind=kind, holds=False, detail=str(error))
    if not is_same:
        return Proof(kind=kind, holds=False, detail="with torch.version.hip None the code differs from the original")
    return Proof(
        kind=kind,
        holds=True,
        detail="NVIDIA builds see the same code (proven: same syntax tree with torch.version.hip None)",
    )
