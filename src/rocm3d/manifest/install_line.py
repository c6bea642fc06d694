"""Splits shell text into commands with word positions, and reads install commands (pip, uv, conda).

For the readers of scripts, Dockerfiles and similar files. Nothing is expanded or executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from rocm3d.manifest.manifest import Mention, Option

_PLAIN = re.compile(r"[^\s\\\"'<>$`();|&]+")
_PLAIN_IN_QUOTES = re.compile(r"[^\n\\\"'>]+")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_]\w*)\1")
_ARRAY = re.compile(r"[A-Za-z_]\w*\+?=$")
_REDIRECT = re.compile(r"(\d|&)?(>>?|<)(&?\d|.*)$")
_PIP, _CONDA = re.compile(r"pip[\d.]*$"), re.compile(r"(conda|mamba|micromamba)$")
# Installers that resolve names as pip does, with the subcommands that take distributions.
_LIKE_PIP = {"uv": ("add",), "poetry": ("add",), "pdm": ("add",), "pipenv": ("install",), "mim": ("install",)}
_NOT_RUN = frozenset({"git", "curl", "wget", "echo", "printf", "grep", "sed", "awk", "alias", "#"})
_SPEC = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?:\[(?P<extras>[^\]]*)\])?\s*(?P<rest>.*)$", re.DOTALL
)
_URL = re.compile(r"(?:git|hg|svn|bzr)\+|(?:https?|file|ssh)://|git@")
_NAMED_URL = re.compile(r"[A-Za-z0-9][\w.-]*(\[[^\]]*\])?\s*@\s*\S")
_FROM = frozenset({"-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--index", "--default-index"})
_FILES = frozenset(
    {"-r", "--requirement", "-c", "--constraint", "--constraints", "--override", "--overrides", "--file"}
)
_FILES |= {"--requirements"}
_CHANNEL = frozenset({"-c", "--channel"})
# fmt: off
_VALUED = frozenset({
    "-t", "--target", "--prefix", "--root", "-e", "--platform", "--python-version", "--only-binary", "--no-binary",
    "--progress-bar", "--timeout", "--retries", "--trusted-host", "--proxy", "--cache-dir", "--config-settings",
    "--config-setting", "-C", "--global-option", "--install-option", "--build-option", "--abi", "--implementation",
    "--src", "--upgrade-strategy", "--log", "--cert", "--client-cert", "--use-feature", "--use-deprecated",
    "--root-user-action", "--exists-action", "--report", "--python", "-p", "--torch-backend", "--resolution",
    "--no-build-isolation-package", "--refresh-package", "--reinstall-package", "--upgrade-package",
    "--index-strategy", "--link-mode", "--group", "--extra", "-n", "--name", "--solver", "--experimental-solver",
    "--repodata-fn", "--source",
})
# fmt: on


@dataclass(frozen=True)
class Word:
    """One word of a command without its quotes, with its position."""

    text: str
    line: int = 1
    column: int = 1
    last_line: int = 1
    quoted: bool = False


@dataclass(frozen=True)
class Installation:
    """One install command. `tool` is pip, uv or conda; `flags` are its options without values."""

    tool: str
    mentions: tuple[Mention, ...]
    options: tuple[Option, ...]
    flags: frozenset[str]


def shell_commands(text: str, line: int = 1, column: int = 1) -> list[tuple[Word, ...]]:
    """The commands of a script as tuples of words. Handles quotes, continued lines, comments and here-documents.

    `line` and `column` are the position of the first character.
    """
    return list(_commands(_Splitter(text, line, column)))


def installation(words: Sequence[Word]) -> Installation | None:
    """Parse an install command; None if the command installs nothing."""
    at = _start(words)
    if at is None:
        return None
    tool, given = at[0], words[at[1] :]
    mentions: list[Mention] = []
    options: list[Option] = []
    flags: set[str] = set()
    index = 0
    while index < len(given):
        word, index = given[index], index + 1
        if not word.text.startswith("-"):
            mentions += _mention(word, word, tool)
            continue
        name, has_value, joined = word.text.partition("=")
        value = word if has_value else None
        if not has_value:
            if not name.startswith("--") and len(name) > 2 and name[:2] in ("-r", "-c", "-f", "-i", "-e"):
                name, joined, value = name[:2], name[2:], word
            elif _takes_value(name, tool) and index < len(given):
                value, index = given[index], index + 1
                joined = value.text
        if value is None:
            flags.add(name)
        elif name in ("-e", "--editable") and joined:
            mentions += _mention(word, Word(joined, value.line, value.column, value.last_line), tool)
        else:
            options += _option(name, joined, word, value, tool)
    return Installation(tool, tuple(mentions), tuple(options), frozenset(flags))


def _takes_value(name: str, tool: str) -> bool:
    known = name in _VALUED or name in _FROM or name in _FILES or name == "--editable"
    return known or (tool == "conda" and name in _CHANNEL)


def _start(words: Sequence[Word]) -> tuple[str, int] | None:
    """The tool, and the index of its first argument; None if this is not an install command."""
    texts = [word.text for word in words]
    if not texts or texts[0] in _NOT_RUN:
        return None
    for index, text in enumerate(texts):
        name = text.rsplit("/", 1)[-1]
        if not (_PIP.match(name) or _CONDA.match(name) or name in _LIKE_PIP):
            continue
        # Options may precede the subcommand; more than eight words do not occur.
        verb = next((i for i in range(index + 1, min(index + 9, len(texts))) if not texts[i].startswith("-")), None)
        if verb is None:
            continue
        if _PIP.match(name) and texts[verb] == "install":
            before = texts[index - 1].rsplit("/", 1)[-1] if index else ""
            return "uv" if before == "uv" else "pip", verb + 1
        if texts[verb] in _LIKE_PIP.get(name, ()):
            return "uv" if name == "uv" else "pip", verb + 1
        if _CONDA.match(name) and texts[verb] in ("install", "create"):
            return "conda", verb + 1
    return None


def _option(name: str, joined: str, word: Word, value: Word, tool: str) -> list[Option]:
    if not joined:
        return []
    channel = tool == "conda" and name in _CHANNEL
    if channel or (name in _FROM and tool != "conda"):
        return [Option((joined,), (), word.line, word.column, value.last_line)]
    if name in _FILES:
        return [Option((), (joined,), word.line, word.column, value.last_line)]
    return []


def _mention(first: Word, word: Word, tool: str) -> list[Mention]:
    """A distribution, URL or folder; an empty list for any other word."""
    text = word.text.strip()
    found = Mention("", word.text, first.line, first.column, word.last_line, section=tool)
    if tool == "conda":
        text = text.rsplit("::", 1)[-1]
    named, at, url = text.partition("@") if _NAMED_URL.match(text) else ("", "", text)
    if at or _URL.match(text) or _is_path(text):
        name = named.split("[")[0].strip() or name_of(url.strip())
        return [replace(found, name=name, url=url.strip())] if name else []
    match = _SPEC.match(text)
    if match is None:
        return []
    extras = frozenset(part.strip() for part in (match["extras"] or "").split(",") if part.strip())
    return [replace(found, name=match["name"], version=match["rest"].split(";")[0].strip(), extras=extras)]


def _is_path(text: str) -> bool:
    return (
        text.startswith((".", "/", "~")) or "/" in re.split(r"[\[=<>;]", text)[0] or text.endswith((".whl", ".tar.gz"))
    )


def name_of(url: str) -> str:
    """The distribution that a URL or folder most likely installs: its egg, wheel name, or last path component."""
    address, _, fragment = unquote(url).partition("#")
    egg = re.search(r"egg=([\w.-]+)", fragment)
    if egg:
        return egg.group(1)
    tail = re.sub(r"\[[^\]]*\]$", "", address.split("?", maxsplit=1)[0]).rstrip("/").rsplit("/", 1)[-1]
    if tail.endswith(".whl"):
        return tail.split("-")[0]
    name = re.sub(r"(\.git)?(@.*)?$", "", tail)
    return "" if name in (".", "..", "") or "$" in name else name


def _commands(splitter: _Splitter) -> Iterator[tuple[Word, ...]]:
    words: list[Word] = []
    skip = False
    for word in splitter.tokens():
        if word is None:
            if words:
                yield tuple(words)
            words, skip = [], False
        elif skip or not (word.text or splitter.quoted):
            skip = False
        elif not splitter.quoted and (match := _REDIRECT.match(word.text)):
            skip = not match.group(3)
        else:
            words.append(word)
    if words:
        yield tuple(words)


class _Splitter:
    """Splits shell text into words, with None between commands."""

    def __init__(self, text: str, line: int, column: int) -> None:
        self.text, self.at, self.line, self.start = text, 0, line, 1 - column
        self.quoted = False  # whether the last word had quotes
        self.inside = False  # inside an array; arrays do not nest
        self.documents: list[str] = []

    def tokens(self) -> Iterator[Word | None]:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\n":
                self._newline()
                self._here_documents()
                yield None
            elif self._continues():
                self._continue()
            elif char in " \t\r\v\f":
                self.at += 1
            elif char == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif char in ";|()" or (char == "&" and self.text[self.at + 1 : self.at + 2] != ">"):
                self.at += 1
                yield None
            else:
                yield self._word()

    def _newline(self) -> None:
        self.at += 1
        self.line, self.start = self.line + 1, self.at

    def _continues(self) -> bool:
        return self.text.startswith(("\\\n", "\\\r\n"), self.at)

    def _continue(self) -> None:
        self.at = self.text.index("\n", self.at)
        self._newline()

    def _word(self) -> Word:
        line, column = self.line, self.at - self.start + 1
        self.quoted = False
        parts: list[str] = []
        while self.at < len(self.text):
            parts += self._run(_PLAIN)
            char = self.text[self.at : self.at + 1]
            if self._continues():
                self._continue()
            elif not char or char in " \t\r\v\f\n;|)" or (char == "&" and parts[-1:] != [">"]):
                if char == "&" and not parts and self.text[self.at + 1 : self.at + 2] == ">":
                    parts.append(self._take())
                    continue
                break
            elif char in "\"'":
                self.quoted = True
                parts += self._quoted(char)
            elif char == "\\":
                self.at += 1
                parts += [self._take()] if self.at < len(self.text) else []
            elif self.text.startswith("<<", self.at) and (match := _HEREDOC.match(self.text, self.at)):
                self.documents.append(match.group(2))
                self.at = match.end()
            elif self.text.startswith("$(", self.at) or char == "`":
                parts.append(self._substitution())
            elif char == "(" and not parts:
                break
            else:
                parts.append(self._array() if char == "(" and self._opens_array(parts) else self._take())
        return Word("".join(parts), line, column, self.line, self.quoted)

    def _opens_array(self, parts: list[str]) -> bool:
        return not self.inside and _ARRAY.match("".join(parts)) is not None

    def _array(self) -> str:
        """The words of NAME=(...), possibly over many lines, joined by spaces."""
        self.inside = True
        self.at += 1
        words: list[str] = []
        while self.at < len(self.text) and self.text[self.at] != ")":
            char, start = self.text[self.at], self.at
            if char == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif char in " \t\r\v\f\n" or self._continues():
                self._take()
            else:
                words.append(self._word().text)
            self.at += self.at == start  # skip a character that starts no word
        self.at += 1
        self.inside, self.quoted = False, True  # the array is one quoted value
        return " ".join(words)

    def _run(self, pattern: re.Pattern[str]) -> list[str]:
        """Consume a run of ordinary characters at once, for speed."""
        match = pattern.match(self.text, self.at)
        self.at = self.at if match is None else match.end()
        return [] if match is None else [match.group()]

    def _take(self) -> str:
        char = self.text[self.at]
        if char == "\n":
            self._newline()
        else:
            self.at += 1
        return char

    def _quoted(self, quote: str) -> Iterator[str]:
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != quote:
            yield from self._run(_PLAIN_IN_QUOTES)
            if self.text[self.at : self.at + 1] in ("", quote):
                continue
            if quote == '"' and self._continues():
                self._continue()
            elif (
                quote == '"' and self.text[self.at] == "\\" and self.text[self.at + 1 : self.at + 2] in ('"', "\\", "$")
            ):
                self.at += 1
                yield self._take()
            else:
                yield self._take()
        self.at += 1

    def _substitution(self) -> str:
        """`$(...)` or backquotes, unchanged."""
        first, depth = self.at, 0
        opening = self._take()
        while self.at < len(self.text):
            char = self._take()
            depth += {"(": 1, ")": -1}.get(char, 0)
            if (opening == "`" and char == "`") or (opening == "$" and char == ")" and depth == 0):
                break
        return self.text[first : self.at]

    def _here_documents(self) -> None:
        """Skip the lines of here-documents: they are data, not commands."""
        while self.documents:
            mark = self.documents.pop(0)
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                line = self.text[self.at : len(self.text) if end < 0 else end]
                self.at = len(self.text) if end < 0 else end
                if end >= 0:
                    self._newline()
                if line.strip() == mark:
                    break
