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

from rocm3d.manifest.install_line import ShellWord, distribution_name, parse_install_command, shell_commands
from rocm3d.manifest.manifest import InstallOption, Mention, ParsedManifest, PythonRange, ScriptCommand, Submodule

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)$", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?:\[[@*]\]|:?-([^${}]*))?\}|([A-Za-z_]\w*))")
_ARRAY_EXPANSION = re.compile(r"\$\{\w+\[[@*]\]\}$")
_ASSIGNMENTS = r"(?:[A-Za-z_]\w*=\S*\s+)*"
_INSTALLS = re.compile(rf"{_ASSIGNMENTS}(?:\S*python\S* -m )?(?:(?:uv )?pip[\d.]*|conda|mamba) install\s")
# Every install command or index variable contains one of these; in JSON, `\\u` may encode any of them.
_MAY_INSTALL = re.compile(rb"install|create|\badd\b|PIP_|UV_|\\u")
_PRINTS = re.compile(r"echo|print|log|warn|err|die|fail|info|msg|say")
_INDEX = re.compile(r"(PIP|UV)_(EXTRA_)?(DEFAULT_)?(INDEX(_URL)?|FIND_LINKS)$")
_INDEX_SETTING = re.compile(r"\w[\w-]*\.((extra-)?index-url|find-links)$")
_PIP = re.compile(r"pip[\d.]*$")
_SHELL, _FLAG = re.compile(r"(ba|da|z|k)?sh$"), re.compile(r"-[a-z]*c$")
_FOLDER = re.compile(r"\.{1,2}(/|\[|$)")
_COMMAND_PREFIXES = frozenset(
    {"export", "readonly", "local", "declare", "then", "do", "else", "{", "!", "$", ">", "sudo", "time"}
)
_MAX_WORDS = 2000  # per command: the search for pip is not linear, and no install command is longer
_MAX_NESTED_SHELLS = 3  # nested shells
_SEARCHED_CHARACTERS = 200  # characters of a word in which an installer is searched
_MAX_WORD_LENGTH = 2048  # characters of a word before and after expansion: limits exponential variable expansion


@dataclass(frozen=True)
class LineIndex:
    """Maps character offsets of a decoded file to lines and columns. Only a line feed ends a line, as in editors."""

    text: str

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of the first character of each line."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def position(self, index: int) -> tuple[int, int]:
        """The 1-based line and column of a character."""
        line = bisect_right(self.line_starts, index)
        return line, index - self.line_starts[line - 1] + 1


def manifest_from_commands(
    path: str, kind: str, data: bytes, commands: Iterable[Sequence[ShellWord]], *, section: str = ""
) -> ParsedManifest:
    """The manifest of a file with shell commands. With a `section`, only install commands count, and mentions get it;
    a conda mention stays recognisable.

    `commands` is not consumed if the file cannot contain an install command, as most pages and notebooks.
    """
    if section and not _MAY_INSTALL.search(data):
        return ParsedManifest(path, kind, data)
    builder = ManifestBuilder()
    builder.add_commands(commands)
    if section:
        builder.mentions = [
            replace(mention, section=f"{section}:conda" if mention.section == "conda" else section)
            for mention in builder.mentions
        ]
        builder.commands, builder.submodules = [], []
    return builder.manifest(path, kind, data)


@dataclass
class ManifestBuilder:
    """Collects requirements, and the effects of commands in order: installs, variables, clones and the current folder.

    `quote_offset` is the column offset of the text inside a quoted word.
    """

    mentions: list[Mention] = field(default_factory=list)
    options: list[InstallOption] = field(default_factory=list)
    submodules: list[Submodule] = field(default_factory=list)
    commands: list[ScriptCommand] = field(default_factory=list)
    pythons: list[PythonRange] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    clone_urls: dict[str, str] = field(default_factory=dict)
    folder: str = "."
    quote_offset: int = 1

    def manifest(self, path: str, kind: str, data: bytes) -> ParsedManifest:
        """The manifest of a file with what was collected."""
        return ParsedManifest(
            path,
            kind,
            data,
            tuple(self.mentions),
            tuple(self.options),
            commands=tuple(self.commands),
            submodules=tuple(self.submodules),
            pythons=tuple(self.pythons),
        )

    def sort_mentions(self) -> None:
        """Order the mentions by their position in the file."""
        self.mentions.sort(key=lambda mention: (mention.line, mention.column))

    def add_requirement(self, text: str, line: int, column: int, section: str) -> None:
        """Add one entry of a list of requirements; like in a requirements file, it can be an option."""
        last_line = line + text.count("\n")
        parts = text.split() if text.lstrip().startswith("-") else [text]
        words = [ShellWord("pip"), ShellWord("install"), *(ShellWord(part, line, column, last_line) for part in parts)]
        install = parse_install_command(words)
        if install is not None:
            self.mentions += [replace(mention, section=section) for mention in install.mentions if mention.name]
            self.options += [replace(option, scope="file") for option in install.options]

    def add_commands(self, commands: Iterable[Sequence[ShellWord]]) -> None:
        for words in commands:
            self.add_command(words)

    def add_command(self, command_words: Sequence[ShellWord], depth: int = 0) -> None:
        """Add one command; `depth` counts the enclosing shells."""
        parts = (
            part
            for token in command_words[:_MAX_WORDS]
            for part in _split_expanded(token, _expand_variables(token.text, self.variables))
        )
        words = list(islice(parts, _MAX_WORDS))
        self.add_assignments(words)
        self._add_index_settings(words)
        self.folder = _folder_after(words, self.folder)
        words = [replace(token, text=self.folder) if token.text in (".", "./") else token for token in words]
        inner = _nested_commands(words, self.quote_offset) if depth < _MAX_NESTED_SHELLS else []
        for command in inner:
            self.add_command(command, depth + 1)
        if not inner:
            self._add_install(words)
        for clone in _clones(words):
            self.submodules.append(clone)
            self.clone_urls[resolve_folder(self.folder, clone.path)] = clone.url
        plain = _without_prefixes(words)
        if plain:
            self.commands.append(script_command(plain))

    def add_assignments(self, words: Sequence[ShellWord]) -> None:
        """Record the variables that a command sets, including package indexes."""
        for token, name, value in _assignments(words):
            self.variables[name] = value[:_MAX_WORD_LENGTH]
            if _INDEX.match(name):
                links = name.endswith("FIND_LINKS")
                self.options += [
                    InstallOption(
                        (url,), (), token.line, token.column, token.last_line, scope="environment", links=links
                    )
                    for url in value.split()
                ]

    def _add_index_settings(self, words: Sequence[ShellWord]) -> None:
        """Record the indexes of `pip config set`: every later install uses them."""
        texts = [token.text for token in words]
        if "config" not in texts or "set" not in texts[texts.index("config") :]:
            return
        if not any(_PIP.match(text.rsplit("/", 1)[-1]) for text in texts[: texts.index("config")]):
            return
        arguments = words[texts.index("set", texts.index("config")) + 1 :]
        name = arguments[0].text.replace("_", "-") if arguments else ""
        if _INDEX_SETTING.match(name):
            links = name.endswith("find-links")
            self.options += [
                InstallOption((url,), (), token.line, token.column, token.last_line, scope="environment", links=links)
                for token in arguments[1:2]
                for url in token.text.split()
            ]

    def _add_install(self, words: Sequence[ShellWord]) -> None:
        install = parse_install_command(words)
        options = () if install is None else install.options
        # A folder brings the requirements of its own manifests, so an index of the command serves those too.
        serves_folder = any(_FOLDER.match(word.text) for word in words)
        self.options += [
            replace(item, scope="environment") if serves_folder and item.urls else item for item in options
        ]
        mentions = _setup_py_install(words, self.folder) if install is None else install.mentions
        self.mentions += [self._with_clone_url(mention) for mention in mentions]

    def _with_clone_url(self, mention: Mention) -> Mention:
        """Replace the path of a cloned folder with the URL of its repository."""
        if not mention.url or "://" in mention.url or not self.clone_urls:
            return mention
        for folder in (resolve_folder(".", mention.url), resolve_folder(self.folder, mention.url)):
            target = folder
            while target and target not in self.clone_urls:
                target = target.rpartition("/")[0]
            url = self.clone_urls.get(target, "")
            if url and folder == target:
                return replace(mention, name=distribution_name(url) or mention.name, url=url)
            if url:
                return replace(mention, url=f"{url}#subdirectory={folder[len(target) + 1 :]}")
        return mention


def _folder_after(words: Sequence[ShellWord], folder: str) -> str:
    """The current folder after a command (`cd`), to resolve `pip install .`."""
    texts = [token.text for token in _without_prefixes(words)]
    return resolve_folder(folder, texts[1]) if texts[:1] == ["cd"] and len(texts) > 1 else folder


def resolve_folder(folder: str, target: str) -> str:
    """The folder after `cd target`, relative to the repository; a dot if it is unknown or outside."""
    if target.startswith(("-", "$")):
        return "."
    absolute = target.startswith(("/", "~"))
    path = posixpath.normpath(target.lstrip("/~") if absolute else posixpath.join(folder, target))
    return "." if path.startswith("..") or path in (".", "") or len(path) > _MAX_WORD_LENGTH else f"./{path}"


def _nested_commands(words: Sequence[ShellWord], quote: int) -> list[tuple[ShellWord, ...]]:
    """The commands inside `bash -c "..."` and `attempt "pip install ..."`, at the position of their text."""
    texts = [token.text for token in words]
    for index, text in enumerate(texts[:-2]):
        if _SHELL.match(text.rsplit("/", 1)[-1]) and _FLAG.match(texts[index + 1]):
            script_word = words[index + 2]
            return shell_commands(script_word.text, script_word.line, script_word.column + quote)
    if not texts or _PRINTS.match(texts[0]):
        return []
    lines = [token for token in words[1:] if token.is_quoted and _INSTALLS.match(token.text[:_SEARCHED_CHARACTERS])]
    return [command for token in lines for command in shell_commands(token.text, token.line, token.column + quote)]


def _setup_py_install(words: Sequence[ShellWord], folder: str) -> list[Mention]:
    """The folder that `python setup.py install` installs."""
    texts = [token.text for token in words]
    for index, text in enumerate(texts[:-1]):
        if text.rsplit("/", 1)[-1] == "setup.py" and {"install", "develop"} & set(texts[index + 1 :]):
            installed_folder = resolve_folder(folder, posixpath.dirname(text) or ".")
            name = "" if installed_folder == "." else distribution_name(installed_folder)
            token = words[index]
            mention = Mention(
                name, text, token.line, token.column, token.last_line, url=installed_folder, section="pip"
            )
            return [mention] if name else []
    return []


def _expand_variables(text: str, variables: dict[str, str]) -> str:
    """Expand variables that the script sets, or their defaults; other variables stay unchanged."""
    if "$" not in text or len(text) > _MAX_WORD_LENGTH:
        return text
    return _VARIABLE.sub(lambda m: variables.get(m[1] or m[3], m[2] or m[0]), text)[:_MAX_WORD_LENGTH]


def _split_expanded(token: ShellWord, text: str) -> list[ShellWord]:
    """Split a word after expansion, unless it is quoted."""
    splits = text != token.text and (not token.is_quoted or _ARRAY_EXPANSION.match(token.text))
    return [replace(token, text=part) for part in (text.split() if splits else [text])]


def _assignments(words: Sequence[ShellWord]) -> Iterator[tuple[ShellWord, str, str]]:
    texts = [token.text for token in words]
    if texts[:1] == ["for"] and texts[2:3] == ["in"]:
        yield words[1], texts[1], " ".join(texts[3:])
        return
    for token in words:
        match = _ASSIGNMENT.match(token.text)
        if match is None:
            if token.text not in _COMMAND_PREFIXES:
                break
        elif "$(" not in match[2] and "`" not in match[2]:
            yield token, match[1], match[2]


def _without_prefixes(words: Sequence[ShellWord]) -> Sequence[ShellWord]:
    """The words from the name of the command on: without assignments, sudo, then and the like."""
    start = 0
    while start < len(words) and (words[start].text in _COMMAND_PREFIXES or _ASSIGNMENT.match(words[start].text)):
        start += 1
    return words[start:]


def script_command(words: Sequence[ShellWord]) -> ScriptCommand:
    name, *arguments = words
    return ScriptCommand(name.text, tuple(token.text for token in arguments), name.line, name.column)


def _clones(words: Sequence[ShellWord]) -> list[Submodule]:
    """The repository that `git clone` or `git submodule add` downloads."""
    plain = _without_prefixes(words)
    texts = [token.text for token in plain]
    if not texts or PurePosixPath(texts[0]).name != "git" or not ("clone" in texts[1:] or "add" in texts[2:3]):
        return []
    for index, text in enumerate(texts):
        if "://" in text or text.startswith("git@"):
            target = next((token for token in texts[index + 1 :] if not token.startswith("-")), distribution_name(text))
            return [Submodule(target, text, plain[index].line, plain[index].column)]
    return []
