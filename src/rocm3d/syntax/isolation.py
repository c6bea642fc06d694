"""The isolation proof: an edited file is unchanged for NVIDIA builds.

It holds under the assumptions of docs/isolation-proof.md. Those about other files are checked on the facts of the tree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from rocm3d.model.patch import Proof, ProofKind
from rocm3d.model.toml import TomlError, parse
from rocm3d.syntax.cmake_fold import ROCM_SWITCH, CMakeFoldError, fold_cmake
from rocm3d.syntax.cpp_assumptions import content_problems, macros_in_conditions, text_problem
from rocm3d.syntax.cpp_tokens import (
    EDIT_MARKERS,
    TokenComparisonError,
    differs_only_as_allowed,
    listed_edits,
    token_stream,
    without_added_include,
)
from rocm3d.syntax.cuda import CUDA_SUFFIXES
from rocm3d.syntax.directives import CONDITIONAL, blanked, directives
from rocm3d.syntax.guard_macros import alias_definitions
from rocm3d.syntax.guards import assume_cuda, fold_cpp, is_rocm_macro
from rocm3d.syntax.isolation_facts import IsolationFacts
from rocm3d.syntax.python_assumptions import python_problem
from rocm3d.syntax.python_fold import PythonFoldError, folded_dump

# The text alone cannot prove this.
_NEXT_STEP = "compare PTX and host object with nvcc: rocm3d verify . --level nvidia"
IGNORE_FILE, MANIFEST_FILE, PROJECT_FILE = ".gitignore", "MANIFEST.in", "pyproject.toml"
_PRUNE = re.compile(rb"prune [\w./+-]+")
# hatchling's table of sdist excludes.
SDIST_TABLE = ("tool", "hatch", "build", "targets", "sdist")
_EXCLUDE = re.compile(rb'exclude = \["/[\w./+-]+"\]')
BLOCK_BEGIN, BLOCK_END = b"# rocm3d begin", b"# rocm3d end"


class NotIsolatedError(Exception):
    """NVIDIA builds may see a difference; the message is the reason."""


NO_TREE = IsolationFacts()


def prove_isolation(path: str, before: bytes, after: bytes, facts: IsolationFacts = NO_TREE) -> Proof:
    """Compare both versions as NVIDIA builds see them, and check what the comparison assumes.

    If a comparison is not possible or an assumption does not hold, the proof does not hold. Without `facts` only the
    file itself is checked: that is no proof for a file of a repository.
    """
    proof = _compare(path, before, after)
    if not proof.holds or before == after:
        return proof
    reason = _broken_assumption(path, before, after, facts)
    return proof if reason is None else Proof(kind=proof.kind, holds=False, detail=reason)


def _broken_assumption(path: str, before: bytes, after: bytes, facts: IsolationFacts) -> str | None:
    name, suffix = PurePosixPath(path).name, PurePosixPath(path).suffix
    if suffix in CUDA_SUFFIXES:
        return _broken_cpp_assumption(path, before, after, facts)
    if suffix == ".py":
        return python_problem(path, before, after, facts) or facts.text_problem(path, before)
    if name == "CMakeLists.txt" or suffix == ".cmake":
        if fold_cmake(before) != before or fold_cmake(after) != after:
            for setting in (*facts.switches, *(item for item in facts.definitions if item.is_flag_of(ROCM_SWITCH))):
                return f"{setting} (assumption M1)"
        return facts.text_problem(path, before)
    return None


def _broken_cpp_assumption(path: str, before: bytes, after: bytes, facts: IsolationFacts) -> str | None:
    for data in (before, after):
        if (reason := text_problem(data)) is not None:
            return f"{reason} (assumption C3)"
    tested = macros_in_conditions(before) | macros_in_conditions(after)
    for definition in facts.definitions:
        if definition.macro in tested:
            return f"{definition} where NVIDIA builds see it (assumption C1)"
    if tested and facts.unread_sources:
        return f"{facts.unread_sources[0]} cannot be read and may define a ROCm macro (assumption C1)"
    for name, text in alias_definitions(after):
        for other_name, other_text, other_path in facts.aliases:
            if name == other_name and path != other_path and text != other_text:
                return f"{other_path} defines another {name} (assumption C5)"
    return next(content_problems(before), None) or facts.text_problem(path, before)


def _compare(path: str, before: bytes, after: bytes) -> Proof:
    name, suffix = PurePosixPath(path).name, PurePosixPath(path).suffix
    if suffix in CUDA_SUFFIXES:
        return _prove_cpp(before, after)
    key = IGNORE_FILE if path.endswith(IGNORE_FILE) else name if name in _COMPARISONS else f"*{suffix}"
    if key not in _COMPARISONS:
        return Proof(kind="cpp-directives-evaluated", holds=False, detail=f"no proof method for {suffix or path}")
    kind, compare = _COMPARISONS[key]
    try:
        return Proof(kind=kind, holds=True, detail=compare(before, after))
    except (NotIsolatedError, CMakeFoldError, PythonFoldError, TomlError) as error:
        return Proof(kind=kind, holds=False, detail=str(error))


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


def _compare_ignore_file(before: bytes, after: bytes) -> str:
    """Ignore patterns in one marked block at the end; none of them negates an earlier pattern."""
    lines = _appended_block(before, after)
    if lines is None or any(line.startswith((b"!", BLOCK_BEGIN, BLOCK_END)) for line in lines):
        raise NotIsolatedError("more changed than one marked block at the end")
    return "only adds one marked block of ignore patterns at the end"


def _compare_manifest_file(before: bytes, after: bytes) -> str:
    """One folder excluded from the source distribution, in a marked block at the end; nothing is included."""
    lines = _appended_block(before, after)
    if lines is None or len(lines) > 1 or not all(_PRUNE.fullmatch(line) for line in lines):
        raise NotIsolatedError("more changed than one excluded folder at the end")
    return "only excludes one folder from the source distribution"


def _compare_project_file(before: bytes, after: bytes) -> str:
    """One folder excluded from hatchling's source distribution by a new table; all other settings are the same."""
    heading = f"[{'.'.join(SDIST_TABLE)}]".encode()
    lines = _appended_block(before, after)
    if lines is None or (lines and not (lines[0] == heading and len(lines) == 2 and _EXCLUDE.fullmatch(lines[1]))):
        raise NotIsolatedError("more changed than one excluded folder at the end")
    if lines and _without_exclude(parse(after)) != parse(before):
        raise NotIsolatedError("other settings differ from the original")
    return "only excludes one folder from the source distribution"


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
    for start in (before + b"\n", before + b"\r\n") if before and not before.endswith(b"\n") else (before,):
        lines = after[len(start) :].splitlines()
        if after.startswith(start) and lines[:1] == [BLOCK_BEGIN] and lines[-1:] == [BLOCK_END] and len(lines) > 1:
            return lines[1:-1]
    return None


def _compare_cmake(before: bytes, after: bytes) -> str:
    if fold_cmake(before) != fold_cmake(after):
        raise NotIsolatedError("with USE_ROCM off the file differs from the original")
    return "NVIDIA builds see the same code (proven: same bytes with USE_ROCM off)"


def _compare_python(before: bytes, after: bytes) -> str:
    if folded_dump(before, before) != folded_dump(after, before):
        raise NotIsolatedError("with torch.version.hip None the code differs from the original")
    return "NVIDIA builds see the same code (proven: same syntax tree with torch.version.hip None)"


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
        if directive.opens:
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


_COMPARISONS: dict[str, tuple[ProofKind, Callable[[bytes, bytes], str]]] = {
    IGNORE_FILE: ("ignore-lines-appended", _compare_ignore_file),
    MANIFEST_FILE: ("ignore-lines-appended", _compare_manifest_file),
    PROJECT_FILE: ("ignore-lines-appended", _compare_project_file),
    "CMakeLists.txt": ("cmake-guard-folded", _compare_cmake),
    "*.cmake": ("cmake-guard-folded", _compare_cmake),
    "*.py": ("python-guard-folded", _compare_python),
}
