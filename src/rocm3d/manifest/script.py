"""Shell commands, wherever they stand, as a manifest: what they install, which repositories they clone, the rest.

One cutter of words (install_line) serves scripts, Dockerfiles, fenced code, notebooks and workflows alike. It is
linear, never recurses and has no grammar that could fail, which a parser of real shell has.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from rocm3d.manifest.install_line import Word, installation, name_of
from rocm3d.manifest.manifest import Command, Manifest, Mention, Option, Submodule

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)$", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_BEFORE = frozenset(
    {"export", "readonly", "local", "declare", "then", "do", "else", "{", "!", "$", ">", "sudo", "time"}
)
_WORDS = 2000  # of one command: no install line is longer, and what looks for pip among them is not linear
_LONGEST = 2048  # of a word, before and after its variables are filled in: a bomb of variables stops here


@dataclass(frozen=True)
class Places:
    """Lines and columns of characters in a decoded file. Only a line feed ends a line, as in editors."""

    text: str

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def of(self, index: int) -> tuple[int, int]:
        """The 1-based line and column of a character."""
        line = bisect_right(self.starts, index)
        return line, index - self.starts[line - 1] + 1


def manifest_of(
    path: str, kind: str, data: bytes, commands: Iterable[Sequence[Word]], *, section: str = ""
) -> Manifest:
    """What the commands do. With a `section` only install lines count, and their mentions bear it."""
    mentions: list[Mention] = []
    options: list[Option] = []
    submodules: list[Submodule] = []
    others: list[Command] = []
    known: dict[str, str] = {}
    folder = "."
    for given in commands:
        words = [replace(word, text=_filled(word.text, known)) for word in given[:_WORDS]]
        known |= _assigned(words)
        folder = _folder(words, folder)
        words = [replace(word, text=folder) if word.text in (".", "./") else word for word in words]
        found = installation(words)
        if found is not None:
            mentions += [replace(item, section=_section(section, item.section)) for item in found.mentions]
            options += found.options
        if section:
            continue
        submodules += _cloned(words)
        others += _command(words)
    return Manifest(
        path, kind, data, tuple(mentions), tuple(options), commands=tuple(others), submodules=tuple(submodules)
    )


def one_mention(text: str, line: int, column: int, section: str) -> tuple[list[Mention], list[Option]]:
    """What one entry of a list of requirements names; entries may be options, as in a requirements file."""
    last = line + text.count("\n")
    parts = text.split() if text.lstrip().startswith("-") else [text]
    words = [Word("pip"), Word("install"), *(Word(part, line, column, last) for part in parts)]
    found = installation(words)
    if found is None:
        return [], []
    return [replace(item, section=section) for item in found.mentions if item.name], list(found.options)


def _folder(words: Sequence[Word], folder: str) -> str:
    """Where the script stands after a command, as far as `cd` tells: what `pip install .` then means."""
    texts = [word.text for word in _plain(words)]
    if texts[:1] != ["cd"] or len(texts) < 2:
        return folder
    target = texts[1]
    return "." if target.startswith(("-", "..", "$")) else f"./{target.lstrip('/')}"


def _section(outer: str, tool: str) -> str:
    """Where a mention stands; that conda is meant must not get lost."""
    if not outer:
        return tool
    return f"{outer}:{tool}" if tool == "conda" else outer


def _filled(text: str, known: dict[str, str]) -> str:
    """With the variables that the script itself sets to plain text; others stay as they are."""
    if "$" not in text or len(text) > _LONGEST:
        return text
    return _VARIABLE.sub(lambda match: known.get(match[1] or match[2], match[0]), text)[:_LONGEST]


def _assigned(words: Sequence[Word]) -> dict[str, str]:
    found = {}
    for word in words:
        match = _ASSIGNMENT.match(word.text)
        if match is None:
            if word.text not in _BEFORE:
                break
        elif "$(" not in match[2] and "`" not in match[2]:
            found[match[1]] = match[2]
    return found


def _plain(words: Sequence[Word]) -> Sequence[Word]:
    """Without what may stand before the name of a command."""
    start = 0
    while start < len(words) and (words[start].text in _BEFORE or _ASSIGNMENT.match(words[start].text)):
        start += 1
    return words[start:]


def _command(words: Sequence[Word]) -> list[Command]:
    plain = _plain(words)
    if not plain:
        return []
    name, *rest = plain
    return [Command(name.text, tuple(word.text for word in rest), name.line, name.column)]


def _cloned(words: Sequence[Word]) -> list[Submodule]:
    """`git clone` and `git submodule add`: another repository comes to lie beside this one."""
    plain = _plain(words)
    texts = [word.text for word in plain]
    if not texts or PurePosixPath(texts[0]).name != "git" or not ("clone" in texts[1:] or "add" in texts[2:3]):
        return []
    for index, text in enumerate(texts):
        if "://" in text or text.startswith("git@"):
            target = next((word for word in texts[index + 1 :] if not word.startswith("-")), name_of(text))
            return [Submodule(target, text, plain[index].line, plain[index].column)]
    return []
