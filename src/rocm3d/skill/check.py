"""Checks of a skill: structure, links, evals, and whether its commands exist in the installed rocm3d.

It reads the installed files, so it can compare an older skill with the current rocm3d.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping

MAX_LINES = 500
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FRONT = re.compile(r"---\n(?P<front>.*?)\n---\n", re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://|#)(?P<to>[^)\s]+)\)")
_FENCE = re.compile(r"^```\w*\n(?P<inner>.*?)^```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`(?P<inner>[^`\n]+)`")
_HEADING = re.compile(r"^#+ (?P<inner>.*)$", re.MULTILINE)
# Only at the start of a line or of inline code: sentences in help texts mention rocm3d too.
_CALL = re.compile(r"\s*(?:\$ |Usage: |Example: )?rocm3d(?P<rest>(?: +[^\s`#]+)*)")
_WORD = re.compile(r"[a-z][a-z0-9-]*(\|[a-z][a-z0-9-]*)*")
_OPTION = re.compile(r"(?<![\w-])(--?[a-z][a-z-]*)")
_MIN_EVALS = {True: 3, False: 2}


def skill_problems(files: Mapping[str, str], commands: Mapping[str, str]) -> list[str]:
    """All problems, one line each. `commands` maps command names to help texts."""
    lines = [*_check_structure(files), *_check_links(files), *_check_evals(files)]
    for name, text in files.items():
        if name.endswith(".md"):
            lines += [f"{name}: {problem}" for call in find_calls(text) for problem in _check_call(call, commands)]
            lines += [
                f"{name}: command without code formatting: {call}" for call in _calls_outside_code(text, commands)
            ]
    if "rocm3d mcp" in commands and "rocm3d mcp" not in files.get("SKILL.md", ""):
        lines.append("SKILL.md: does not mention `rocm3d mcp`")
    return list(dict.fromkeys(lines))


def find_calls(text: str) -> list[str]:
    """All calls of rocm3d in code and headings of a page."""
    lines = [line for match in _FENCE.finditer(text) for line in match["inner"].splitlines()]
    without_fences = _FENCE.sub("", text)
    inline = [match["inner"] for pattern in (_CODE, _HEADING) for match in pattern.finditer(without_fences)]
    matches = (match for line in (*lines, *inline) if (match := _CALL.match(line)))
    return list(dict.fromkeys(" ".join(f"rocm3d{match['rest']}".split()) for match in matches))


def commands_of_call(call: str, commands: Mapping[str, str]) -> list[str]:
    """The commands of a call. `check|diff` means both. Empty if one of them does not exist."""
    names, words = ["rocm3d"], call.split()[1:]
    while words and _WORD.fullmatch(words[0]) and _has_inner(names[0], commands):
        names = [f"{name} {word}" for name in names for word in words[0].split("|")]
        words = words[1:]
    return names if all(name in commands for name in names) else []


def _has_inner(name: str, commands: Mapping[str, str]) -> bool:
    return any(other.startswith(f"{name} ") for other in commands)


def _check_call(call: str, commands: Mapping[str, str]) -> Iterator[str]:
    if call == "rocm3d" or _is_template(call):
        return
    names = commands_of_call(call, commands)
    if not names or (names == ["rocm3d"] and not call.split()[1].startswith("-")):
        yield f"unknown command: {call}"
        return
    # Options after ` -- ` belong to the program that rocm3d runs.
    own_part = f"{call} ".partition(" -- ")[0]
    for name in names:
        known = set(_OPTION.findall(commands[name]))
        for option in _OPTION.findall(own_part):
            if option not in known:
                yield f"{name} has no option {option}: {call}"


def _is_template(call: str) -> bool:
    """The usage line of the top-level help, and placeholders such as `rocm3d COMMAND`."""
    return re.fullmatch(r"rocm3d (\[OPTIONS\] )?COMMAND( \[ARGS\]\.\.\.)?", call) is not None


def _calls_outside_code(text: str, commands: Mapping[str, str]) -> list[str]:
    """Calls in plain text, which `calls` does not find."""
    without_code = _HEADING.sub("", _CODE.sub("", _FENCE.sub("", text)))
    candidates = (f"rocm3d {match[1]}" for match in re.finditer(r"\brocm3d ([a-z]+)\b", without_code))
    return [call for call in candidates if call in commands]


def _check_structure(files: Mapping[str, str]) -> Iterator[str]:
    page = files.get("SKILL.md")
    if page is None:
        yield "SKILL.md is missing"
        return
    if (lines := len(page.splitlines())) > MAX_LINES:
        yield f"SKILL.md has {lines} lines; agents load at most {MAX_LINES}"
    match = _FRONT.match(page)
    values = dict(line.partition(": ")[::2] for line in match["front"].splitlines()) if match else {}
    name, description = values.get("name", ""), _unquote(values.get("description", ""))
    if not _NAME.fullmatch(name) or len(name) > 64:
        yield f"SKILL.md: {name!r} is not a valid skill name"
    if not 1 <= len(description) <= 1024:
        yield f"SKILL.md: the description has {len(description)} characters; allowed are 1 to 1024"


def _unquote(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text


def _check_links(files: Mapping[str, str]) -> Iterator[str]:
    linked = set()
    for name, text in files.items():
        for match in _LINK.finditer(_CODE.sub("", _FENCE.sub("", text))) if name.endswith(".md") else ():
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), match["to"].partition("#")[0]))
            linked |= {target} if name == "SKILL.md" else set()
            if target not in files:
                yield f"{name}: link to missing file {match['to']}"
    for name in files:
        if name.startswith("references/") and name not in linked:
            yield f"SKILL.md: no link to {name}"


def _check_evals(files: Mapping[str, str]) -> Iterator[str]:
    try:
        cases = json.loads(files["evals/evals.json"])["evals"]
        kinds = [bool(case["should_trigger"]) for case in cases]
        ids = [str(case["id"]) for case in cases if case["prompt"]]
    except (KeyError, ValueError, TypeError) as error:
        yield f"evals/evals.json cannot be read: {type(error).__name__} {error}"
        return
    if len(set(ids)) != len(cases):
        yield "evals/evals.json: duplicate id or missing prompt"
    for kind, minimum in _MIN_EVALS.items():
        if kinds.count(kind) < minimum:
            yield f"evals/evals.json: {kinds.count(kind)} of {minimum} prompts with should_trigger {json.dumps(kind)}"
