"""Dockerfiles and compose files: base images, and what their commands install. Nothing is run."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from rocm3d.manifest.install_line import Word, shell_commands
from rocm3d.manifest.manifest import Command, Image, Manifest, Reader, pure
from rocm3d.manifest.script import Script, entered
from rocm3d.model.text import replace_surrogates

_DOCKERFILE = re.compile(r"(dockerfile|containerfile)([._-].*)?$|.*\.(dockerfile|containerfile)$", re.IGNORECASE)
_NOT_DOCKERFILE = re.compile(r"\.(md|txt|rst|py|sh|dockerignore)$", re.IGNORECASE)
_COMPOSE = re.compile(r"(docker-)?compose[\w.-]*\.ya?ml$", re.IGNORECASE)
_KEY = re.compile(r"(\s*(?:-\s+)?)(image|runtime|driver)\s*:\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s#]+))\s*(?:#.*)?$")
_INSTRUCTION = re.compile(r"([ \t]*)([A-Za-z]+)(?=\s|$)")
_ESCAPE = re.compile(r"#\s*escape\s*=\s*`\s*$", re.IGNORECASE)
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_]\w*)\1")


def is_docker(path: str) -> bool:
    name = pure(path).name
    return bool(_COMPOSE.match(name) or (_DOCKERFILE.match(name) and not _NOT_DOCKERFILE.search(name)))


def read(path: str, data: bytes) -> Manifest:
    """Images, shell commands and what they install; each other instruction becomes a command of that name."""
    text = data.decode("utf-8", "replace").replace("\r\n", " \n")
    if _COMPOSE.match(pure(path).name):
        return _compose(path, data, text)
    found = _Dockerfile()
    for name, body, line, column, offset in _instructions(text):
        found.add(name, body, line, column, offset)
    return Manifest(
        path,
        reader.kind,
        data,
        mentions=tuple(found.script.mentions),
        options=tuple(found.script.options),
        images=tuple(found.images),
        commands=tuple(found.commands),
        submodules=tuple(found.script.submodules),
    )


class _Dockerfile:
    """Collects images, commands and install lines from the instructions of a Dockerfile."""

    def __init__(self) -> None:
        self.images: list[Image] = []
        self.commands: list[Command] = []
        self.script = Script()
        self.stages: set[str] = set()
        self.folder = "."

    def add(self, name: str, body: str, line: int, column: int, offset: int) -> None:
        if name == "RUN":
            self._run(body, line, offset)
            return
        given = [word for command in shell_commands(body, line, offset) for word in command]
        words = [word.text for word in given]
        if name == "FROM":
            self._from(words, line, column)
        elif name in ("ARG", "ENV"):
            spaced = name == "ENV" and len(given) == 2 and "=" not in words[0]
            self.script.assign([replace(given[0], text="=".join(words))] if spaced else given)
        elif name == "WORKDIR" and words:
            self.folder = entered(self.folder, words[0])
        elif name == "COPY":
            sources = [word.split("=", 1)[1] for word in words if word.startswith("--from=")]
            self.images += [Image(item, line, column) for item in sources if self._is_image(item)]
        self.commands.append(Command(name, tuple(words), line, column))

    def _from(self, words: list[str], line: int, column: int) -> None:
        given = [word for word in words if not word.startswith("--")]
        image = _VARIABLE.sub(self._value, given[0]) if given else ""
        if image and self._is_image(image):
            self.images.append(Image(image, line, column))
        if len(given) >= 3 and given[1].lower() == "as":
            self.stages.add(given[2].lower())

    def _is_image(self, name: str) -> bool:
        return name.lower() not in self.stages and name != "scratch" and not name.isdigit()

    def _value(self, match: re.Match[str]) -> str:
        return self.script.known.get(match.group(1) or match.group(3)) or match.group(2) or match.group()

    def _run(self, body: str, line: int, offset: int) -> None:
        self.script.folder = self.folder  # each RUN starts in WORKDIR, even after a cd in the one before
        for words in _run_commands(body, line, offset):
            first, *rest = words
            self.commands.append(Command(first.text, tuple(word.text for word in rest), first.line, first.column))
            self.script.take(words)


def _run_commands(body: str, line: int, offset: int) -> list[tuple[Word, ...]]:
    if body.lstrip().startswith("["):
        words = _json_words(body)
        if words:
            column = offset + len(body) - len(body.lstrip())
            return [tuple(Word(word, line, column, line) for word in words)]
    head, newline, rest = body.partition("\n")
    marks = _HEREDOC.findall(head)
    if marks and newline and head.lstrip().startswith("<<"):
        script = re.sub(rf"(?m)^\s*{marks[0][1]}\s*$", "", rest)
        return shell_commands(script, line + 1)
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
    return [replace_surrogates(word) for word in words if isinstance(word, str)] if isinstance(words, list) else []


def _instructions(text: str) -> list[tuple[str, str, int, int, int]]:
    """Name, text, line, column of the name, column of the text. Comments between continued lines are blanked."""
    lines = text.split("\n")
    escape = "`" if any(_ESCAPE.match(line) for line in lines[:3]) else "\\"
    found = []
    unclosed: set[str] = set()
    at = 0
    while at < len(lines):
        first, match = at, _INSTRUCTION.match(lines[at])
        at += 1
        if match is None:
            continue
        body = [lines[first][match.end() :]]
        while body[-1].rstrip().endswith(escape) and at < len(lines):
            body[-1] = body[-1].rstrip()[:-1] + "\\"
            while at < len(lines) and (not lines[at].strip() or lines[at].lstrip().startswith("#")):
                body.append("\\")
                at += 1
            if at < len(lines):
                body.append(lines[at])
                at += 1
        for _, mark in _HEREDOC.findall("\n".join(body)) if match.group(2).upper() in ("RUN", "COPY") else ():
            never = mark in unclosed  # a here-document without end from one line on has no end from a later line on
            end = None if never else next((i for i in range(at, len(lines)) if lines[i].strip() == mark), None)
            if end is None:
                unclosed.add(mark)
            else:
                body += lines[at : end + 1]
                at = end + 1
        column = len(match.group(1)) + 1
        found.append((match.group(2).upper(), "\n".join(body), first + 1, column, match.end() + 1))
    return found


def _compose(path: str, data: bytes, text: str) -> Manifest:
    images: list[Image] = []
    commands: list[Command] = []
    for number, line in enumerate(text.split("\n"), start=1):
        match = _KEY.match(line)
        if match is None:
            continue
        value, column = next(part for part in match.groups()[2:] if part is not None), len(match.group(1)) + 1
        if match.group(2) == "image":
            image = _VARIABLE.sub(lambda found: found.group(2) or found.group(), value)
            images += [Image(image, number, column)] if image else []
        else:
            commands.append(Command(match.group(2), (value,), number, column))
    return Manifest(path, reader.kind, data, images=tuple(images), commands=tuple(commands))


reader = Reader(__name__, is_docker, read)
