"""Compiler flags in Python build scripts, outside of backend guards, that equal one of the rule's terms.

Parameters: `pattern`, a regex whose last group, or the group `term`, is the term, and whose other named groups are
facts; `prefix`, true if the flag starts with a term; `excluded`, a regex that a flag must not match;
`device_only`, true leaves out flags that only the host compiler gets; `guarded`, true searches guarded flags as well;
`file_lacks`, regexes that the file must not contain; `severity`; `group_lines`, a number of lines: flags that
are closer to the one before are part of its finding, because one edit fixes both.
Facts: flag, term, why.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rocm3d.scan.build_script import CompilerFlag, compiler_flags
from rocm3d.scan.detector import DetectorContext, Match, Matcher
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    parameters = context.parameters
    group_lines, last_line = int(parameters.get("group_lines", "0")), -1_000_000
    if any(re.search(pattern.encode(), unit.data) for pattern in parameters.get("file_lacks", ())):
        return
    for flag in compiler_flags(unit):
        facts = {} if _is_excluded(flag, parameters) else _facts(flag, context)
        if facts and flag.line - last_line >= group_lines:
            yield Match(flag.line, flag.column, facts, severity=parameters.get("severity"))
        last_line = flag.line if facts else last_line


def _is_excluded(flag: CompilerFlag, parameters: Mapping[str, Any]) -> bool:
    return (
        (flag.is_guarded and not parameters.get("guarded"))
        or (flag.is_host_only and bool(parameters.get("device_only")))
        or ("excluded" in parameters and re.search(parameters["excluded"], flag.text) is not None)
    )


def _facts(flag: CompilerFlag, context: DetectorContext) -> dict[str, str]:
    """The facts of a flag that has a term; empty for other flags."""
    terms, pattern = context.code.terms, context.parameters.get("pattern")
    named: dict[str, str] = {}
    if isinstance(pattern, str):
        match = re.search(pattern, flag.text)
        named = {name: text or "" for name, text in match.groupdict().items()} if match else {}
        term = named.get("term", match.group(match.lastindex or 0)) if match else None
    else:
        term = flag.matching_prefix(terms) if context.parameters.get("prefix") else flag.text
    return {**named, "flag": flag.text, "term": term, "why": terms[term]} if term in terms and term else {}


matcher = Matcher(
    unit_types=PythonUnit,
    find=find,
    prefilter=(b"cpp_extension",),
    parameters={
        "pattern": str,
        "prefix": (True, False),
        "excluded": str,
        "device_only": (True, False),
        "guarded": (True, False),
        "file_lacks": list,
        "severity": ("note", "warning", "error"),
        "group_lines": str,
    },
)
