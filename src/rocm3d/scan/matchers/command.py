"""Commands of scripts, CMake files and containers, and names of binaries, compared as text.

The text of a command is its name, and each argument, on a line of its own; `^` and `$` match at each line.
Parameters: `kinds`, the kinds of files (modules of rocm3d.manifest); `patterns`, a table from a regex to a severity: ""
for that of the rule, `none` for commands to leave out. The first regex that has a term decides about a command, and
each of its matches with a term is a finding. The term is the last group, the group `term`, or what the parameter `term`
says, a text with {facts} in it. `facts`: a table of such texts. `file_has` and `file_lacks`: regexes that a file must
all contain, or must not.
For CMake: `without_rocm`, true leaves out files that mention ROCm; `optional`, the severity inside of a condition on
CUDA; `no_project` and `not_required`, the severities in a file without project(), and in one that does not enable CUDA
unconditionally.
Facts: command (shortened), call (the name and two arguments), name, arguments, first, term, why, and the named groups.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rocm3d.manifest.manifest import ParsedManifest, ScriptCommand
from rocm3d.scan.cmake_script import commands_with_cuda_optional, mentions_rocm, requires_cuda
from rocm3d.scan.detector import DetectorContext, Match, Matcher

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rocm3d.model.finding import Severity

_SEVERITIES = ("note", "warning", "error")
_LEFT_OUT = "none"
_MAX_SHOWN = 4  # arguments


def find(unit: ParsedManifest, context: DetectorContext) -> Iterator[Match]:
    parameters = context.parameters
    if not can_match(unit, context) or (parameters.get("without_rocm") and mentions_rocm(unit)):
        return
    of_file = _severity_of_file(unit, parameters)
    for command, is_optional in commands_with_cuda_optional(unit):
        text, about = "\n".join((command.name, *command.arguments)), _facts_of_command(command)
        for pattern, severity in parameters["patterns"].items():
            matches = re.finditer(pattern, text, re.MULTILINE)
            if severity == _LEFT_OUT and any(matches):
                break
            all_facts = [facts for match in matches if (facts := _facts(about, match, context))]
            chosen = (parameters.get("optional") if is_optional else None) or of_file or severity or None
            yield from (Match(command.line, command.column, facts, severity=chosen) for facts in all_facts)
            if all_facts:
                break


def _severity_of_file(unit: ParsedManifest, parameters: Mapping[str, Any]) -> Severity | None:
    if "no_project" in parameters and not any(command.name == "project" for command in unit.commands):
        return parameters["no_project"]  # type: ignore[no-any-return]
    if "not_required" in parameters and not requires_cuda(unit):
        return parameters["not_required"]  # type: ignore[no-any-return]
    return None


def _facts_of_command(command: ScriptCommand) -> dict[str, str]:
    arguments = command.arguments
    shown = " ".join(arguments[:_MAX_SHOWN]) + (" ..." if len(arguments) > _MAX_SHOWN else "")
    return {
        "command": f"{command.name}({shown})",
        "call": " ".join((command.name, *arguments[:2])),
        "name": command.name,
        "arguments": " ".join(arguments),
        "first": "".join(arguments[:1]),
    }


def _facts(about: dict[str, str], match: re.Match[str], context: DetectorContext) -> dict[str, str]:
    """The facts of a match with a term; empty for other matches."""
    parameters = context.parameters
    facts = {**about, **{name: text or "" for name, text in match.groupdict().items()}}
    default = facts.get("term", match.group(match.lastindex or 0)).replace("\n", " ")
    term = parameters["term"].format(**facts) if "term" in parameters else default
    if term not in context.code.terms:
        return {}
    facts |= {"term": term, "why": context.code.terms[term]}
    return {**facts, **{name: text.format(**facts) for name, text in parameters.get("facts", {}).items()}}


def can_match(unit: ParsedManifest, context: DetectorContext) -> bool:
    parameters = context.parameters
    return (
        unit.kind in parameters.get("kinds", (unit.kind,))
        and all(re.search(pattern.encode(), unit.data) for pattern in parameters.get("file_has", ()))
        and not any(re.search(pattern.encode(), unit.data) for pattern in parameters.get("file_lacks", ()))
    )


matcher = Matcher(
    unit_types=ParsedManifest,
    find=find,
    prefilter=can_match,
    parameters={
        "kinds": list,
        "patterns": dict,
        "facts": dict,
        "term": str,
        "file_has": list,
        "file_lacks": list,
        "without_rocm": (True, False),
        "optional": _SEVERITIES,
        "no_project": _SEVERITIES,
        "not_required": _SEVERITIES,
    },
    required=("patterns",),
)
