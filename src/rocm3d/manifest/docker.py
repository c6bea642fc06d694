"""Dockerfiles and compose files: base images, and what their commands install. Nothing is run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from rocm3d.manifest.install_line import HEREDOC, ShellWord, shell_commands
from rocm3d.manifest.manifest import Image, ManifestReader, ParsedManifest, ScriptCommand, posix_path
from rocm3d.manifest.script import ManifestBuilder, resolve_folder, script_command
from rocm3d.model.text import replace_surrogates

_DOCKERFILE = re.compile(r"(dockerfile|containerfile)([._-].*)?$|.*\.(dockerfile|containerfile)$", re.IGNORECASE)
_NOT_DOCKERFILE = re.compile(r"\.(md|txt|rst|py|sh|dockerignore)$", re.IGNORECASE)
_COMPOSE = re.compile(r"(docker-)?compose[\w.-]*\.ya?ml$", re.IGNORECASE)
_COMPOSE_KEY = re.compile(
    r"(\s*(?:-\s+)?)(image|runtime|driver)\s*:\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s#]+))\s*(?:#.*)?$"
)
_INSTRUCTION = re.compile(r"([ \t]*)([A-Za-z]+)(?=\s|$)")
_ESCAPE = re.compile(r"#\s*escape\s*=\s*`\s*$", re.IGNORECASE)
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))")


def is_docker(path: str) -> bool:
    name = posix_path(path).name
    return bool(_COMPOSE.match(name) or (_DOCKERFILE.match(name) and not _NOT_DOCKERFILE.search(name)))


def read(path: str, data: bytes) -> ParsedManifest:
    """Images, shell commands and what they install; each other instruction becomes a command of that name."""
    text = data.decode("utf-8", "replace").replace("\r\n", " \n")
    if _COMPOSE.match(posix_path(path).name):
        return _read_compose(path, data, text)
    dockerfile = _Dockerfile()
    for instruction in _instructions(text):
        dockerfile.add(*instruction)
    return ParsedManifest(
        path,
        reader.kind,
        data,
        mentions=tuple(dockerfile.script.mentions),
        options=tuple(dockerfile.script.options),
        images=tuple(dockerfile.images),
        commands=tuple(dockerfile.commands),
        submodules=tuple(dockerfile.script.submodules),
    )


class _Dockerfile:
    """Collects images, commands and install lines from the instructions of a Dockerfile."""

    def __init__(self) -> None:
        self.images: list[Image] = []
        self.commands: list[ScriptCommand] = []
        self.script = ManifestBuilder()
        self.stages: set[str] = set()
        self.folder = "."

    def add(self, name: str, body: str, line: int, column: int, offset: int) -> None:
        if name == "RUN":
            self._run(body, line, offset)
            return
        words_with_positions = [token for command in shell_commands(body, line, offset) for token in command]
        words = [token.text for token in words_with_positions]
        if name == "FROM":
            self._from(words, line, column)
        elif name in ("ARG", "ENV"):
            spaced = name == "ENV" and len(words_with_positions) == 2 and "=" not in words[0]
            self.script.add_assignments(
                [replace(words_with_positions[0], text="=".join(words))] if spaced else words_with_positions
            )
        elif name == "WORKDIR" and words:
            self.folder = resolve_folder(self.folder, words[0])
        elif name == "COPY":
            sources = [token.split("=", 1)[1] for token in words if token.startswith("--from=")]
            self.images += [Image(image_name, line, column) for image_name in sources if self._is_image(image_name)]
        self.commands.append(ScriptCommand(name, tuple(words), line, column))

    def _from(self, words: list[str], line: int, column: int) -> None:
        operands = [token for token in words if not token.startswith("--")]
        image = _VARIABLE.sub(self._variable_value, operands[0]) if operands else ""
        if image and self._is_image(image):
            self.images.append(Image(image, line, column))
        if len(operands) >= 3 and operands[1].lower() == "as":
            self.stages.add(operands[2].lower())

    def _is_image(self, name: str) -> bool:
        return name.lower() not in self.stages and name != "scratch" and not name.isdigit()

    def _variable_value(self, match: re.Match[str]) -> str:
        return self.script.variables.get(match.group(1) or match.group(3)) or match.group(2) or match.group()

    def _run(self, body: str, line: int, offset: int) -> None:
        self.script.folder = self.folder  # each RUN starts in WORKDIR, even after a cd in the one before
        for words in _run_commands(body, line, offset):
            self.commands.append(script_command(words))
            self.script.add_command(words)


def _run_commands(body: str, line: int, offset: int) -> list[tuple[ShellWord, ...]]:
    words = _json_words(body) if body.lstrip().startswith("[") else []
    if words:
        return [tuple(ShellWord(token, line, offset + len(body) - len(body.lstrip()), line) for token in words)]
    head, newline, body_lines = body.partition("\n")
    delimiters = HEREDOC.findall(head)
    if delimiters and newline and head.lstrip().startswith("<<"):
        return shell_commands(re.sub(rf"(?m)^\s*{delimiters[0][1]}\s*$", "", body_lines), line + 1)
    commands = shell_commands(body, line, offset)
    while commands and commands[0][0].text.startswith("--"):  # options of RUN itself, such as --mount
        commands[0] = commands[0][1:]
        commands = commands if commands[0] else commands[1:]
    return commands


def _json_words(body: str) -> list[str]:
    try:
        words = json.loads(re.sub(r"\\\n", " ", body))
    except (ValueError, RecursionError):
        return []
    return [replace_surrogates(token) for token in words if isinstance(token, str)] if isinstance(words, list) else []


def _instructions(text: str) -> Iterator[tuple[str, str, int, int, int]]:
    """Name, text, line, column of the name, column of the text. Comments between continued lines are blanked."""
    lines = text.split("\n")
    escape = "`" if any(_ESCAPE.match(line) for line in lines[:3]) else "\\"
    unclosed: set[str] = set()
    index = 0
    while index < len(lines):
        first, match = index, _INSTRUCTION.match(lines[index])
        index += 1
        if match is None:
            continue
        body = [lines[first][match.end() :]]
        while body[-1].rstrip().endswith(escape) and index < len(lines):
            body[-1] = body[-1].rstrip()[:-1] + "\\"
            while index < len(lines) and (not lines[index].strip() or lines[index].lstrip().startswith("#")):
                body.append("\\")
                index += 1
            if index < len(lines):
                body.append(lines[index])
                index += 1
        for _, delimiter in HEREDOC.findall("\n".join(body)) if match.group(2).upper() in ("RUN", "COPY") else ():
            # A here-document without end from one line on has no end from a later line on.
            rest = range(index, len(lines)) if delimiter not in unclosed else range(0)
            end = next((i for i in rest if lines[i].strip() == delimiter), None)
            if end is None:
                unclosed.add(delimiter)
            else:
                body += lines[index : end + 1]
                index = end + 1
        yield match.group(2).upper(), "\n".join(body), first + 1, len(match.group(1)) + 1, match.end() + 1


def _read_compose(path: str, data: bytes, text: str) -> ParsedManifest:
    images: list[Image] = []
    commands: list[ScriptCommand] = []
    for number, line in enumerate(text.split("\n"), start=1):
        match = _COMPOSE_KEY.match(line)
        if match is None:
            continue
        value, column = next(part for part in match.groups()[2:] if part is not None), len(match.group(1)) + 1
        if match.group(2) == "image":
            image = _VARIABLE.sub(lambda variable: variable.group(2) or variable.group(), value)
            images += [Image(image, number, column)] if image else []
        else:
            commands.append(ScriptCommand(match.group(2), (value,), number, column))
    return ParsedManifest(path, reader.kind, data, images=tuple(images), commands=tuple(commands))


reader = ManifestReader(__name__, is_docker, read)
