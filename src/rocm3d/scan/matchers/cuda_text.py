"""A regular expression over C++ and CUDA files without comments and strings, for example for macro bodies.

Parameters: `pattern`, whose named groups are facts; `term`, the group that must be a term of the rule: the finding is
there, and its reason is the fact `why` (terms may have the wildcards `*` and `[...]`); `contains`, texts of which one
must be in the file (default: the terms, else the pattern itself); `unless`, no finding in a file with this expression;
`unless_line`, nor in a line with this one; `unless_defined`, true if a macro or function that the file defines does not
count; `once`, which keeps the first finding for each `file` or `line` and counts them in the fact `count`; `builds` and
`shim` (rocm3d.scan.builds).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from rocm3d.scan import builds
from rocm3d.scan.detector import Clue, DetectorContext, Match, Matcher
from rocm3d.scan.prefilter import contains_text
from rocm3d.syntax.cuda import CudaUnit, defined_names
from rocm3d.syntax.directives import blanked

_DEFINITIONS = ("preproc_def", "preproc_function_def", "function_declarator")
_WILDCARD = re.compile(rb"(\*|\[[^\]]*\])")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match | Clue]:
    return builds.unless_shimmed(unit, context, _first_matches(unit, context))


def _first_matches(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    once = context.parameters.get("once")
    if once is None:
        yield from _matches(unit, context)
        return
    groups: dict[int, list[Match]] = {}
    for match in _matches(unit, context):
        groups.setdefault(match.line if once == "line" else 0, []).append(match)
    for first, *others in groups.values():
        count = f"{len(others) + 1} times" if others else "once"
        yield Match(first.line, first.column, {**first.facts, "count": f"{count} in this {once}"})


def _matches(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    text, group = blanked(unit.data), str(context.parameters.get("term", ""))
    if "unless" in context.parameters and _compiled(context, "unless").search(text):
        return
    if "unless_line" in context.parameters:
        text = _without_lines(text, _compiled(context, "unless_line"))
    reasons: dict[str, str] = {}
    candidates: list[tuple[int, dict[str, str]]] = []
    for match in _compiled(context, "pattern").finditer(text):
        facts = {name: _readable(value) for name, value in match.groupdict(b"").items()}
        if group:
            name = facts[group]
            reasons[name] = facts["why"] = reasons[name] if name in reasons else context.reason(name)
        if not group or facts["why"]:
            candidates.append((match.start(group or 0), facts))
    own_names = defined_names(unit, *_DEFINITIONS) if candidates and context.parameters.get("unless_defined") else ()
    is_compiled = builds.relevance(unit, context)
    for offset, facts in candidates:
        if is_compiled(offset) and facts.get(group) not in own_names:
            line, column = unit.text.position(offset)
            yield Match(line, column, facts)


def _readable(text: bytes) -> str:
    return b" ".join(text.split()).decode("utf-8", "replace")


def _without_lines(text: bytes, excluded: re.Pattern[bytes]) -> bytes:
    """The text with the lines that contain the expression blanked."""
    return b"\n".join(b" " * len(line) if excluded.search(line) else line for line in text.split(b"\n"))


def _compiled(context: DetectorContext, parameter: str) -> re.Pattern[bytes]:
    return _compiled_text(str(context.parameters[parameter]))


@cache
def _compiled_text(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


def _can_match(unit: CudaUnit, context: DetectorContext) -> bool:
    texts = context.parameters.get("contains")
    if isinstance(texts, list | tuple):
        return any(contains_text(unit.data, text.encode()) for text in texts)
    if not context.encoded_terms:
        return _compiled(context, "pattern").search(unit.data) is not None
    return _any_term(context.encoded_terms).search(unit.data) is not None


@cache
def _any_term(terms: tuple[bytes, ...]) -> re.Pattern[bytes]:
    parts = (_WILDCARD.split(term) for term in terms)
    return re.compile(b"|".join(b"".join(map(_expression, term_parts)) for term_parts in parts))


def _expression(part: bytes) -> bytes:
    """The regular expression for a part of a term: a wildcard or literal text."""
    return rb"\w*" if part == b"*" else part if _WILDCARD.fullmatch(part) else re.escape(part)


matcher = Matcher(
    unit_types=CudaUnit,
    find=find,
    prefilter=_can_match,
    parameters={
        "pattern": str,
        "term": str,
        "contains": list,
        "unless": str,
        "unless_line": str,
        "unless_defined": (True, False),
        "once": ("file", "line"),
        **builds.PARAMETERS,
    },
    required=("pattern",),
)
