"""Jupyter notebooks: install commands of their code cells (`!pip`, `%pip`, `%%bash`).

The JSON is tokenised instead of loaded, so that nesting needs no recursion and each character of a cell keeps its
position in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rocm3d.manifest.install_line import ShellWord, shell_commands
from rocm3d.manifest.manifest import ManifestReader, ParsedManifest, has_suffix
from rocm3d.manifest.script import LineIndex, manifest_from_commands
from rocm3d.model.text import replace_surrogates

# The closing quote is optional: a pattern that cannot fail cannot make the search quadratic.
_TOKEN = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|[{}\[\],:]|[^\s{}\[\],:"]+')
_CHARACTER = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)
_SHELL_MARK = re.compile(r'(?:^"|\\n)(?:\s|\\[rtbf])*[!%]|\\u00')
_PLAIN = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\b": " ", "\\f": " "}
_OPEN = {"{": "", "[": None}
_CLOSE = frozenset("}]")
_LINE = re.compile(r"^(?P<indent>[ \t]*)(?P<mark>[!%])(?=[ \t]*[\w{$/])")
_SCRIPT = re.compile(r"\s*%%(bash|sh|shell|script bash)\b")


@dataclass
class _Cell:
    """One cell: the JSON string literals of its source with file offsets, and the decoded text with offsets."""

    kind: str = ""
    literals: list[tuple[str, int]] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)

    @property
    def can_contain_shell_line(self) -> bool:
        """Whether a line may start with `!` or `%`; other cells are not decoded."""
        return self.kind == "code" and any(_SHELL_MARK.search(literal) for literal, _ in self.literals)

    def add(self, key: str, literal: str, start: int) -> None:
        """Add a string value of the cell."""
        if key == "cell_type":
            self.kind = literal[1:-1]
        elif key == "source":
            self.literals.append((literal, start))

    def decode(self) -> None:
        for literal, start in self.literals:
            for match in _CHARACTER.finditer(literal, 1, len(literal) - 1):
                character = match.group()
                self.offsets.append(start + match.start())
                if character.startswith("\\u") and len(character) == 6:
                    self.text.append(replace_surrogates(chr(int(character[2:], 16))))
                else:
                    self.text.append(_PLAIN.get(character, character[-1]))


def read(path: str, data: bytes) -> ParsedManifest:
    source = data.decode("utf-8", "replace")
    lines = LineIndex(source)
    commands = (command for cell in cells(source) if cell.can_contain_shell_line for command in _commands(cell, lines))
    return manifest_from_commands(path, reader.kind, data, commands, section="notebook")


def cells(source: str) -> Iterator[_Cell]:
    """The cells in order; none if the file is not JSON."""
    keys: list[str | None] = []  # the current key of each open object; None for lists
    cell, expects_key = _Cell(), False
    for match in _TOKEN.finditer(source):
        token = match.group()
        if token in _OPEN:
            cell = _Cell() if _is_cell_list(keys) else cell
            keys.append(_OPEN[token])
            expects_key = keys[-1] is not None
        elif token in _CLOSE:
            del keys[-1:]
            if _is_cell_list(keys):
                yield cell
            expects_key = False
        elif token == ",":
            expects_key = bool(keys) and keys[-1] is not None
        elif token.startswith('"'):
            if expects_key:
                keys[-1] = token[1:-1]
            elif len(keys) in (3, 4) and _is_cell_list(keys[:2]):
                cell.add(keys[2] or "", token, match.start())
            expects_key = False


def _is_cell_list(keys: list[str | None]) -> bool:
    return len(keys) == 2 and keys[0] == "cells" and keys[1] is None


def _commands(cell: _Cell, file_lines: LineIndex) -> Iterator[tuple[ShellWord, ...]]:
    cell.decode()
    cell_lines = LineIndex("".join(cell.text))
    for command in shell_commands(_shell_lines(cell_lines.text)):
        yield tuple(_word_in_file(token, cell_lines, cell, file_lines) for token in command)


def _word_in_file(token: ShellWord, cell_lines: LineIndex, cell: _Cell, file_lines: LineIndex) -> ShellWord:
    final = len(cell.offsets) - 1
    line, column = file_lines.position(
        cell.offsets[min(cell_lines.line_starts[token.line - 1] + token.column - 1, final)]
    )
    last, _ = file_lines.position(
        cell.offsets[min(cell_lines.line_starts[min(token.last_line, len(cell_lines.line_starts)) - 1], final)]
    )
    return replace(token, line=line, column=column, last_line=max(line, last))


def _shell_lines(text: str) -> str:
    """The text of a cell with its Python lines blanked."""
    lines = text.split("\n")
    if _SCRIPT.match(text):
        return "\n".join(["", *lines[1:]])
    shell_lines, continued = [], False
    for line in lines:
        is_shell = bool(_LINE.match(line))
        shell_lines.append(_LINE.sub(r"\g<indent> ", line) if is_shell or continued else "")
        continued = (is_shell or continued) and line.endswith("\\")
    return "\n".join(shell_lines)


reader = ManifestReader(__name__, has_suffix(".ipynb"), read)
