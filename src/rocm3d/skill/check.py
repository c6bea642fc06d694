"""Whether a skill holds together, and fits the commands that are there: structure, links, commands, evals.

It reads the files of a skill as an agent has them, so an older one can be held against the rocm3d that is installed.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping

LIMIT = 500
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FRONT = re.compile(r"---\n(?P<front>.*?)\n---\n", re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://|#)(?P<to>[^)\s]+)\)")
_FENCE = re.compile(r"^```\w*\n(?P<inner>.*?)^```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`(?P<inner>[^`\n]+)`")
_HEADING = re.compile(r"^#+ (?P<inner>.*)$", re.MULTILINE)
# At the start of a line or of words in code; help texts say in sentences what rocm3d does.
_CALL = re.compile(r"\s*(?:\$ |Usage: |Example: )?rocm3d(?P<rest>(?: +[^\s`#]+)*)")
_WORD = re.compile(r"[a-z][a-z0-9-]*(\|[a-z][a-z0-9-]*)*")
_OPTION = re.compile(r"(?<![\w-])(--?[a-z][a-z-]*)")
_AT_LEAST = {True: 3, False: 2}


def problems(files: Mapping[str, str], commands: Mapping[str, str]) -> list[str]:
    """What is wrong, one line each; `commands` is the help text of each command, by name."""
    found = [*_structure(files), *_links(files), *_evals(files)]
    for name, text in files.items():
        if name.endswith(".md"):
            found += [f"{name}: {problem}" for line in calls(text) for problem in _call(line, commands)]
            found += [f"{name}: a command stands outside of code: {line}" for line in _bare(text, commands)]
    if "rocm3d mcp" in commands and "rocm3d mcp" not in files.get("SKILL.md", ""):
        found.append("SKILL.md: does not name `rocm3d mcp`, which serves the same")
    return list(dict.fromkeys(found))


def calls(text: str) -> list[str]:
    """Every call of rocm3d in the code and the headings of a page, as it stands there."""
    lines = [line for match in _FENCE.finditer(text) for line in match["inner"].splitlines()]
    plain = _FENCE.sub("", text)
    words = [match["inner"] for pattern in (_CODE, _HEADING) for match in pattern.finditer(plain)]
    found = (match for line in (*lines, *words) if (match := _CALL.match(line)))
    return list(dict.fromkeys(" ".join(f"rocm3d{match['rest']}".split()) for match in found))


def named(call: str, commands: Mapping[str, str]) -> list[str]:
    """The commands that a call names: several where it says `check|diff`, none where one of them is not there."""
    names, words = ["rocm3d"], call.split()[1:]
    while words and _WORD.fullmatch(words[0]) and _has_inner(names[0], commands):
        names = [f"{name} {word}" for name in names for word in words[0].split("|")]
        words = words[1:]
    return names if all(name in commands for name in names) else []


def _has_inner(name: str, commands: Mapping[str, str]) -> bool:
    return any(other.startswith(f"{name} ") for other in commands)


def _call(call: str, commands: Mapping[str, str]) -> Iterator[str]:
    if call == "rocm3d" or _is_template(call):
        return
    names = named(call, commands)
    if not names or (names == ["rocm3d"] and not call.split()[1].startswith("-")):
        yield f"there is no such command: {call}"
        return
    # What follows ` -- ` is the program that is run.
    own = f"{call} ".partition(" -- ")[0]
    for name in names:
        known = set(_OPTION.findall(commands[name]))
        for option in _OPTION.findall(own):
            if option not in known:
                yield f"{name} has no option {option}: {call}"


def _is_template(call: str) -> bool:
    """The first line of the top-level help, and names such as `rocm3d COMMAND`."""
    return re.fullmatch(r"rocm3d (\[OPTIONS\] )?COMMAND( \[ARGS\]\.\.\.)?", call) is not None


def _bare(text: str, commands: Mapping[str, str]) -> list[str]:
    """Calls in plain sentences, where the next renaming would not find them."""
    plain = _HEADING.sub("", _CODE.sub("", _FENCE.sub("", text)))
    found = (f"rocm3d {match[1]}" for match in re.finditer(r"\brocm3d ([a-z]+)\b", plain))
    return [call for call in found if call in commands]


def _structure(files: Mapping[str, str]) -> Iterator[str]:
    page = files.get("SKILL.md")
    if page is None:
        yield "SKILL.md is missing"
        return
    if (lines := len(page.splitlines())) > LIMIT:
        yield f"SKILL.md has {lines} lines; more than {LIMIT} are not loaded whole"
    match = _FRONT.match(page)
    values = dict(line.partition(": ")[::2] for line in match["front"].splitlines()) if match else {}
    name, description = values.get("name", ""), _unquoted(values.get("description", ""))
    if not _NAME.fullmatch(name) or len(name) > 64:
        yield f"SKILL.md: {name!r} is no name of a skill"
    if not 1 <= len(description) <= 1024:
        yield f"SKILL.md: the description has {len(description)} characters, not 1 to 1024"


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text


def _links(files: Mapping[str, str]) -> Iterator[str]:
    linked = set()
    for name, text in files.items():
        for match in _LINK.finditer(_CODE.sub("", _FENCE.sub("", text))) if name.endswith(".md") else ():
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), match["to"].partition("#")[0]))
            linked |= {target} if name == "SKILL.md" else set()
            if target not in files:
                yield f"{name}: links to {match['to']}, which is missing"
    for name in files:
        if name.startswith("references/") and name not in linked:
            yield f"SKILL.md: {name} is linked from nowhere in it"


def _evals(files: Mapping[str, str]) -> Iterator[str]:
    try:
        cases = json.loads(files["evals/evals.json"])["evals"]
        kinds = [bool(case["should_trigger"]) for case in cases]
        ids = [str(case["id"]) for case in cases if case["prompt"]]
    except (KeyError, ValueError, TypeError) as error:
        yield f"evals/evals.json cannot be read: {type(error).__name__} {error}"
        return
    if len(set(ids)) != len(cases):
        yield "evals/evals.json: two cases have one id, or one has no prompt"
    for kind, least in _AT_LEAST.items():
        if kinds.count(kind) < least:
            yield f"evals/evals.json: {kinds.count(kind)} prompts with should_trigger {json.dumps(kind)}, not {least}"
