"""Splits shell text into commands with word positions, and reads install commands (pip, uv, conda).

For the readers of scripts, Dockerfiles and similar files. Nothing is expanded or executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from urllib.parse import unquote

from rocm3d.manifest.manifest import InstallOption, Mention

_PLAIN = re.compile(r"[^\s\\\"'<>$`();|&]+")
_PLAIN_IN_QUOTES = re.compile(r"[^\n\\\"'>]+")
HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_]\w*)\1")
_ARRAY = re.compile(r"[A-Za-z_]\w*\+?=$")
_REDIRECT = re.compile(r"(\d|&)?(>>?|<)(&?\d|.*)$")
_PIP, _CONDA = re.compile(r"pip[\d.]*$"), re.compile(r"(conda|mamba|micromamba)$")
# Installers that resolve names as pip does, with the subcommands that take distributions.
_PIP_LIKE_INSTALLERS = {
    "uv": ("add",),
    "poetry": ("add",),
    "pdm": ("add",),
    "pipenv": ("install",),
    "mim": ("install",),
}
_NOT_INSTALLERS = frozenset({"git", "curl", "wget", "echo", "printf", "grep", "sed", "awk", "alias", "#"})
_SPEC = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?:\[(?P<extras>[^\]]*)\])?\s*(?P<rest>.*)$", re.DOTALL
)
_URL = re.compile(r"(?:git|hg|svn|bzr)\+|(?:https?|file|ssh)://|git@")
_NAMED_URL = re.compile(r"[A-Za-z0-9][\w.-]*(\[[^\]]*\])?\s*@\s*\S")
_INDEX_OPTIONS = frozenset(
    {"-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--index", "--default-index"}
)
_FILE_OPTIONS = frozenset(
    {"-r", "--requirement", "--requirements", "-c", "--constraint", "--constraints"}
    | {"--override", "--overrides", "--file"}
)
_CHANNEL_OPTIONS = frozenset({"-c", "--channel"})
# fmt: off
_OPTIONS_WITH_VALUE = frozenset({
    "-t", "--target", "--prefix", "--root", "-e", "--platform", "--python-version", "--only-binary", "--no-binary",
    "--progress-bar", "--timeout", "--retries", "--trusted-host", "--proxy", "--cache-dir", "--config-settings",
    "--config-setting", "-C", "--global-option", "--install-option", "--build-option", "--abi", "--implementation",
    "--src", "--upgrade-strategy", "--log", "--cert", "--client-cert", "--use-feature", "--use-deprecated",
    "--root-user-action", "--exists-action", "--report", "--python", "-p", "--torch-backend", "--resolution",
    "--no-build-isolation-package", "--refresh-package", "--reinstall-package", "--upgrade-package",
    "--index-strategy", "--link-mode", "--group", "--extra", "-n", "--name", "--solver", "--experimental-solver",
    "--repodata-fn", "--source", "--editable",
})
# fmt: on


@dataclass(frozen=True)
class ShellWord:
    """One word of a command without its quotes, with its position."""

    text: str
    line: int = 1
    column: int = 1
    last_line: int = 1
    is_quoted: bool = False


@dataclass(frozen=True)
class ParsedInstallCommand:
    """One install command. `tool` is pip, uv or conda; `flags` are its options without values."""

    tool: str
    mentions: tuple[Mention, ...]
    options: tuple[InstallOption, ...]
    flags: frozenset[str]


def shell_commands(text: str, line: int = 1, column: int = 1) -> list[tuple[ShellWord, ...]]:
    """The commands of a script as tuples of words. Handles quotes, continued lines, comments and here-documents.

    `line` and `column` are the position of the first character.
    """
    return list(_commands(_WordSplitter(text, line, column).tokens()))


def parse_install_command(words: Sequence[ShellWord]) -> ParsedInstallCommand | None:
    """Parse an install command; None if the command installs nothing."""
    start = _find_tool(words)
    if start is None:
        return None
    tool, arguments = start[0], words[start[1] :]
    mentions: list[Mention] = []
    options: list[InstallOption] = []
    flags: set[str] = set()
    index = 0
    while index < len(arguments):
        token, index = arguments[index], index + 1
        if not token.text.startswith("-"):
            mentions += _mention(token, token, tool)
            continue
        name, has_value, value_text = token.text.partition("=")
        value = token if has_value else None
        if not has_value:
            if not name.startswith("--") and len(name) > 2 and name[:2] in ("-r", "-c", "-f", "-i", "-e"):
                name, value_text, value = name[:2], name[2:], token
            elif _takes_value(name, tool) and index < len(arguments):
                value, index = arguments[index], index + 1
                value_text = value.text
        if value is None:
            flags.add(name)
        elif name in ("-e", "--editable") and value_text:
            mentions += _mention(token, ShellWord(value_text, value.line, value.column, value.last_line), tool)
        else:
            options += _option(name, value_text, token, value, tool)
    indexes = tuple(url for option in options for url in option.urls)
    if indexes:
        mentions = [replace(mention, indexes=(*mention.indexes, *indexes)) for mention in mentions]
    options = [replace(option, scope="command", indexes=indexes) for option in options]
    return ParsedInstallCommand(tool, tuple(mentions), tuple(options), frozenset(flags))


def _takes_value(name: str, tool: str) -> bool:
    return name in _OPTIONS_WITH_VALUE | _INDEX_OPTIONS | _FILE_OPTIONS or (
        tool == "conda" and name in _CHANNEL_OPTIONS
    )


def _find_tool(words: Sequence[ShellWord]) -> tuple[str, int] | None:
    """The tool, and the index of its first argument; None if this is not an install command."""
    texts = [token.text for token in words]
    if not texts or texts[0] in _NOT_INSTALLERS:
        return None
    for index, text in enumerate(texts):
        name = text.rsplit("/", 1)[-1]
        if not (_PIP.match(name) or _CONDA.match(name) or name in _PIP_LIKE_INSTALLERS):
            continue
        # Options may precede the subcommand; more than eight words do not occur.
        subcommand = next(
            (i for i in range(index + 1, min(index + 9, len(texts))) if not texts[i].startswith("-")), None
        )
        if subcommand is None:
            continue
        is_pip = _PIP.match(name) and texts[subcommand] == "install"
        if is_pip or texts[subcommand] in _PIP_LIKE_INSTALLERS.get(name, ()):
            front = texts[max(index - 1, 0)].rsplit("/", 1)[-1] if is_pip else name  # uv itself, or `uv pip`
            return "uv" if front == "uv" else "pip", subcommand + 1
        if _CONDA.match(name) and texts[subcommand] in ("install", "create"):
            return "conda", subcommand + 1
    return None


def _option(name: str, value_text: str, token: ShellWord, value: ShellWord, tool: str) -> list[InstallOption]:
    is_index = name in (_CHANNEL_OPTIONS if tool == "conda" else _INDEX_OPTIONS)
    if not value_text or not (is_index or name in _FILE_OPTIONS):
        return []
    urls, includes = ((value_text,), ()) if is_index else ((), (value_text,))
    links = name in ("-f", "--find-links")
    return [
        InstallOption(
            urls, includes, token.line, token.column, value.last_line, links=links, channel=is_index and tool == "conda"
        )
    ]


def _mention(first: ShellWord, token: ShellWord, tool: str) -> list[Mention]:
    """A distribution, URL or folder; an empty list for any other word."""
    text = token.text.strip()
    mention = Mention("", token.text, first.line, first.column, token.last_line, section=tool)
    if tool == "conda":
        channel, _, text = text.rpartition("::")
        mention = replace(mention, indexes=(channel,) if channel else ())
    name_part, separator, url = text.partition("@") if _NAMED_URL.match(text) else ("", "", text)
    if separator or _URL.match(text) or _is_path(text):
        name = name_part.split("[")[0].strip() or distribution_name(url.strip())
        return [replace(mention, name=name, url=url.strip())] if name else []
    match = _SPEC.match(text)
    if match is None:
        return []
    extras = frozenset(part.strip() for part in (match["extras"] or "").split(",") if part.strip())
    return [replace(mention, name=match["name"], version=match["rest"].split(";")[0].strip(), extras=extras)]


def _is_path(text: str) -> bool:
    return (
        text.startswith((".", "/", "~")) or "/" in re.split(r"[\[=<>;]", text)[0] or text.endswith((".whl", ".tar.gz"))
    )


def distribution_name(url: str) -> str:
    """The distribution that a URL or folder most likely installs: its egg, wheel name, or last path component."""
    address, _, fragment = unquote(url).partition("#")
    egg_match = re.search(r"egg=([\w.-]+)", fragment)
    if egg_match:
        return egg_match.group(1)
    tail = re.sub(r"\[[^\]]*\]$", "", address.split("?", maxsplit=1)[0]).rstrip("/").rsplit("/", 1)[-1]
    if tail.endswith(".whl"):
        return tail.split("-")[0]
    name = re.sub(r"(\.git)?(@.*)?$", "", tail)
    return "" if name in (".", "..", "") or "$" in name else name


def _commands(tokens: Iterable[ShellWord | None]) -> Iterator[tuple[ShellWord, ...]]:
    words: list[ShellWord] = []
    skip = False
    for token in chain(tokens, [None]):
        if token is None:
            if words:
                yield tuple(words)
            words, skip = [], False
        elif skip or not (token.text or token.is_quoted):
            skip = False
        elif not token.is_quoted and (match := _REDIRECT.match(token.text)):
            skip = not match.group(3)
        else:
            words.append(token)


class _WordSplitter:
    """Splits shell text into words, with None between commands."""

    def __init__(self, text: str, line: int, column: int) -> None:
        self.text, self.offset, self.line, self.line_start = text, 0, line, 1 - column
        self.is_quoted = False  # whether the last word had quotes
        self.in_array = False  # inside an array; arrays do not nest
        self.pending_documents: list[str] = []

    def tokens(self) -> Iterator[ShellWord | None]:
        while self.offset < len(self.text):
            char = self.text[self.offset]
            if char == "\n":
                self._newline()
                self._skip_heredocs()
                yield None
            elif self._continues():
                self._continue()
            elif char in " \t\r\v\f":
                self.offset += 1
            elif char == "#":
                self.offset = self._line_end()
            elif char in ";|()" or (char == "&" and self.text[self.offset + 1 : self.offset + 2] != ">"):
                self.offset += 1
                yield None
            else:
                yield self._read_word()

    def _line_end(self) -> int:
        end = self.text.find("\n", self.offset)
        return len(self.text) if end < 0 else end

    def _newline(self) -> None:
        self.offset += 1
        self.line, self.line_start = self.line + 1, self.offset

    def _continues(self) -> bool:
        return self.text.startswith(("\\\n", "\\\r\n"), self.offset)

    def _continue(self) -> None:
        self.offset = self.text.index("\n", self.offset)
        self._newline()

    def _read_word(self) -> ShellWord:
        line, column = self.line, self.offset - self.line_start + 1
        self.is_quoted = False
        parts: list[str] = []
        while self.offset < len(self.text):
            parts += self._consume_run(_PLAIN)
            char = self.text[self.offset : self.offset + 1]
            if self._continues():
                self._continue()
            elif not char or char in " \t\r\v\f\n;|)" or (char == "&" and parts[-1:] != [">"]):
                if char == "&" and not parts and self.text[self.offset + 1 : self.offset + 2] == ">":
                    parts.append(self._consume_character())
                    continue
                break
            elif char in "\"'":
                self.is_quoted = True
                parts += self._quoted(char)
            elif char == "\\":
                self.offset += 1
                parts += [self._consume_character()] if self.offset < len(self.text) else []
            elif self.text.startswith("<<", self.offset) and (match := HEREDOC.match(self.text, self.offset)):
                self.pending_documents.append(match.group(2))
                self.offset = match.end()
            elif self.text.startswith("$(", self.offset) or char == "`":
                parts.append(self._substitution())
            elif char == "(" and not parts:
                break
            else:
                parts.append(self._array() if char == "(" and self._opens_array(parts) else self._consume_character())
        return ShellWord("".join(parts), line, column, self.line, self.is_quoted)

    def _opens_array(self, parts: list[str]) -> bool:
        return not self.in_array and _ARRAY.match("".join(parts)) is not None

    def _array(self) -> str:
        """The words of NAME=(...), possibly over many lines, joined by spaces."""
        self.in_array = True
        self.offset += 1
        words: list[str] = []
        while self.offset < len(self.text) and self.text[self.offset] != ")":
            char, start = self.text[self.offset], self.offset
            if char == "#":
                self.offset = self._line_end()
            elif char in " \t\r\v\f\n" or self._continues():
                self._consume_character()
            else:
                words.append(self._read_word().text)
            self.offset += self.offset == start  # skip a character that starts no word
        self.offset += 1
        self.in_array, self.is_quoted = False, True  # the array is one quoted value
        return " ".join(words)

    def _consume_run(self, pattern: re.Pattern[str]) -> list[str]:
        """Consume a run of ordinary characters at once, for speed."""
        match = pattern.match(self.text, self.offset)
        self.offset = self.offset if match is None else match.end()
        return [] if match is None else [match.group()]

    def _consume_character(self) -> str:
        char = self.text[self.offset]
        if char == "\n":
            self._newline()
        else:
            self.offset += 1
        return char

    def _quoted(self, quote: str) -> Iterator[str]:
        self.offset += 1
        while self.offset < len(self.text) and self.text[self.offset] != quote:
            yield from self._consume_run(_PLAIN_IN_QUOTES)
            if self.text[self.offset : self.offset + 1] in ("", quote):
                continue
            if quote == '"' and self._continues():
                self._continue()
                continue
            self.offset += quote == '"' and self.text.startswith(('\\"', "\\\\", "\\$"), self.offset)
            yield self._consume_character()
        self.offset += 1

    def _substitution(self) -> str:
        """`$(...)` or backquotes, unchanged."""
        first, depth = self.offset, 0
        opening = self._consume_character()
        while self.offset < len(self.text):
            char = self._consume_character()
            depth += {"(": 1, ")": -1}.get(char, 0)
            if (opening == "`" and char == "`") or (opening == "$" and char == ")" and depth == 0):
                break
        return self.text[first : self.offset]

    def _skip_heredocs(self) -> None:
        """Skip the lines of here-documents: they are data, not commands."""
        for delimiter in self.pending_documents:
            line = ""
            while self.offset < len(self.text) and line.strip() != delimiter:
                line = self.text[self.offset : self._line_end()]
                self.offset = self._line_end()
                if self.offset < len(self.text):
                    self._newline()
        self.pending_documents = []
