"""Manifests from shell commands: installed distributions, cloned repositories, other commands.

Scripts, Dockerfiles, fenced code, notebooks and workflows share one word splitter (install_line). It is linear and not
recursive, and unlike a full shell parser it cannot fail on invalid syntax.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath

from rocm3d.manifest.install_line import Word, installation, name_of, shell_commands
from rocm3d.manifest.manifest import Command, Manifest, Mention, Option, Submodule

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)$", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?:\[[@*]\]|:?-([^${}]*))?\}|([A-Za-z_]\w*))")
_ALL = re.compile(r"\$\{\w+\[[@*]\]\}$")
_ASSIGNED = r"(?:[A-Za-z_]\w*=\S*\s+)*"
_INSTALLS = re.compile(rf"{_ASSIGNED}(?:\S*python\S* -m )?(?:(?:uv )?pip[\d.]*|conda|mamba) install\s")
# Every install command or index variable contains one of these; in JSON, `\\u` may encode any of them.
_MAY_INSTALL = re.compile(rb"install|create|\badd\b|PIP_|UV_|\\u")
_SAYS = re.compile(r"echo|print|log|warn|err|die|fail|info|msg|say")
_INDEX = re.compile(r"(PIP|UV)_(EXTRA_)?(DEFAULT_)?(INDEX(_URL)?|FIND_LINKS)$")
_SHELL, _FLAG = re.compile(r"(ba|da|z|k)?sh$"), re.compile(r"-[a-z]*c$")
_BEFORE = frozenset(
    {"export", "readonly", "local", "declare", "then", "do", "else", "{", "!", "$", ">", "sudo", "time"}
)
_WORDS = 2000  # per command: the search for pip is not linear, and no install command is longer
_SHELLS = 3  # nested shells
_HEAD = 200  # characters of a word in which an installer is searched
_LONGEST = 2048  # characters of a word before and after expansion: limits exponential variable expansion


@dataclass(frozen=True)
class Places:
    """Maps character offsets of a decoded file to lines and columns. Only a line feed ends a line, as in editors."""

    text: str

    @cached_property
    def starts(self) -> list[int]:
        """The offset of the first character of each line."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def of(self, index: int) -> tuple[int, int]:
        """The 1-based line and column of a character."""
        line = bisect_right(self.starts, index)
        return line, index - self.starts[line - 1] + 1


def manifest_of(
    path: str, kind: str, data: bytes, commands: Iterable[Sequence[Word]], *, section: str = ""
) -> Manifest:
    """The manifest of a file with shell commands. With a `section`, only install commands count, and mentions get it.

    `commands` is not consumed if the file cannot contain an install command, as most pages and notebooks.
    """
    if section and not _MAY_INSTALL.search(data):
        return Manifest(path, kind, data)
    script = Script()
    for words in commands:
        script.take(words)
    mentions = [replace(item, section=_section(section, item.section)) for item in script.mentions]
    others, clones = ((), ()) if section else (tuple(script.commands), tuple(script.submodules))
    return Manifest(path, kind, data, tuple(mentions), tuple(script.options), commands=others, submodules=clones)


@dataclass
class Script:
    """Collects the effects of commands in order: installs, variables, clones and the current folder.

    `quote_offset` is the column offset of the text inside a quoted word.
    """

    mentions: list[Mention] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    submodules: list[Submodule] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)
    cloned: dict[str, str] = field(default_factory=dict)
    folder: str = "."
    quote: int = 1

    def take(self, given: Sequence[Word], depth: int = 0) -> None:
        """Add one command; `depth` counts the enclosing shells."""
        parts = (part for word in given[:_WORDS] for part in _split(word, _filled(word.text, self.known)))
        words = list(islice(parts, _WORDS))
        self.assign(words)
        self.folder = _folder(words, self.folder)
        words = [replace(word, text=self.folder) if word.text in (".", "./") else word for word in words]
        inner = _inner(words, self.quote) if depth < _SHELLS else []
        for command in inner:
            self.take(command, depth + 1)
        if not inner:
            self._install(words)
        for clone in _cloned(words):
            self.submodules.append(clone)
            self.cloned[entered(self.folder, clone.path)] = clone.url
        self.commands += _command(words)

    def assign(self, words: Sequence[Word]) -> None:
        """Record the variables that a command sets, including package indexes."""
        for word, name, value in _assigned(words):
            self.known[name] = value[:_LONGEST]
            if _INDEX.match(name):
                self.options += [Option((url,), (), word.line, word.column, word.last_line) for url in value.split()]

    def _install(self, words: Sequence[Word]) -> None:
        found = installation(words)
        if found is not None:
            self.options += found.options
        mentions = _set_up(words, self.folder) if found is None else found.mentions
        self.mentions += [self._origin(item) for item in mentions]

    def _origin(self, item: Mention) -> Mention:
        """Replace the path of a cloned folder with the URL of its repository."""
        if not item.url or "://" in item.url or not self.cloned:
            return item
        for place in (entered(".", item.url), entered(self.folder, item.url)):
            target = place
            while target and target not in self.cloned:
                target = target.rpartition("/")[0]
            url = self.cloned.get(target, "")
            if url and place == target:
                return replace(item, name=name_of(url) or item.name, url=url)
            if url:
                return replace(item, url=f"{url}#subdirectory={place[len(target) + 1 :]}")
        return item


def one_mention(text: str, line: int, column: int, section: str) -> tuple[list[Mention], list[Option]]:
    """Parse one entry of a list of requirements; like in a requirements file, it can be an option."""
    last = line + text.count("\n")
    parts = text.split() if text.lstrip().startswith("-") else [text]
    words = [Word("pip"), Word("install"), *(Word(part, line, column, last) for part in parts)]
    found = installation(words)
    if found is None:
        return [], []
    return [replace(item, section=section) for item in found.mentions if item.name], list(found.options)


def _folder(words: Sequence[Word], folder: str) -> str:
    """The current folder after a command (`cd`), to resolve `pip install .`."""
    texts = [word.text for word in _plain(words)]
    return entered(folder, texts[1]) if texts[:1] == ["cd"] and len(texts) > 1 else folder


def entered(folder: str, target: str) -> str:
    """The folder after `cd target`, relative to the repository; a dot if it is unknown or outside."""
    if target.startswith(("-", "$")):
        return "."
    absolute = target.startswith(("/", "~"))
    path = posixpath.normpath(target.lstrip("/~") if absolute else posixpath.join(folder, target))
    return "." if path.startswith("..") or path in (".", "") or len(path) > _LONGEST else f"./{path}"


def _inner(words: Sequence[Word], quote: int) -> list[tuple[Word, ...]]:
    """The commands inside `bash -c "..."` and `attempt "pip install ..."`, at the position of their text."""
    texts = [word.text for word in words]
    for index, text in enumerate(texts[:-2]):
        if _SHELL.match(text.rsplit("/", 1)[-1]) and _FLAG.match(texts[index + 1]):
            given = words[index + 2]
            return shell_commands(given.text, given.line, given.column + quote)
    if not texts or _SAYS.match(texts[0]):
        return []
    lines = [word for word in words[1:] if word.quoted and _INSTALLS.match(word.text[:_HEAD])]
    return [command for word in lines for command in shell_commands(word.text, word.line, word.column + quote)]


def _set_up(words: Sequence[Word], folder: str) -> list[Mention]:
    """The folder that `python setup.py install` installs."""
    texts = [word.text for word in words]
    for index, text in enumerate(texts[:-1]):
        if text.rsplit("/", 1)[-1] == "setup.py" and {"install", "develop"} & set(texts[index + 1 :]):
            place = entered(folder, posixpath.dirname(text) or ".")
            name = "" if place == "." else name_of(place)
            word = words[index]
            return (
                [Mention(name, text, word.line, word.column, word.last_line, url=place, section="pip")] if name else []
            )
    return []


def _section(outer: str, tool: str) -> str:
    """The section of a mention; a conda mention stays recognisable."""
    if not outer:
        return tool
    return f"{outer}:{tool}" if tool == "conda" else outer


def _filled(text: str, known: dict[str, str]) -> str:
    """Expand variables that the script sets, or their defaults; other variables stay unchanged."""
    if "$" not in text or len(text) > _LONGEST:
        return text
    return _VARIABLE.sub(lambda m: known.get(m[1] or m[3], m[2] or m[0]), text)[:_LONGEST]


def _split(word: Word, text: str) -> list[Word]:
    """Split a word after expansion, unless it is quoted."""
    splits = text != word.text and (not word.quoted or _ALL.match(word.text))
    parts = text.split() if splits else [text]
    return [replace(word, text=part) for part in parts]


def _assigned(words: Sequence[Word]) -> Iterator[tuple[Word, str, str]]:
    texts = [word.text for word in words]
    if texts[:1] == ["for"] and texts[2:3] == ["in"]:
        yield words[1], texts[1], " ".join(texts[3:])
        return
    for word in words:
        match = _ASSIGNMENT.match(word.text)
        if match is None:
            if word.text not in _BEFORE:
                break
        elif "$(" not in match[2] and "`" not in match[2]:
            yield word, match[1], match[2]


def _plain(words: Sequence[Word]) -> Sequence[Word]:
    """The words from the name of the command on: without assignments, sudo, then and the like."""
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
    """The repository that `git clone` or `git submodule add` downloads."""
    plain = _plain(words)
    texts = [word.text for word in plain]
    if not texts or PurePosixPath(texts[0]).name != "git" or not ("clone" in texts[1:] or "add" in texts[2:3]):
        return []
    for index, text in enumerate(texts):
        if "://" in text or text.startswith("git@"):
            target = next((word for word in texts[index + 1 :] if not word.startswith("-")), name_of(text))
            return [Submodule(target, text, plain[index].line, plain[index].column)]
    return []
