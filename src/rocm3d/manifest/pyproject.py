"""pyproject.toml: requirements of PEP 621 and 735, poetry, pdm, hatch, uv, pixi, and their indexes. Executes nothing.

The TOML library says what is there, but not where. So each value is looked up again among the string literals of the
text, behind the heading of its table; a value that cannot be found that way stands at the first line.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rocm3d.manifest.install_line import shell_commands
from rocm3d.manifest.manifest import Manifest, Mention, Option, Reader, pure
from rocm3d.manifest.script import Places, Script, one_mention
from rocm3d.model.toml import STRING_OR_COMMENT, NotToml, parse

_PART = r"(?:\"[^\"\n]*\"|'[^'\n]*'|[\w-]+)"
_HEADING = re.compile(rf"^[ \t]*\[\[?[ \t]*({_PART}(?:[ \t]*\.[ \t]*{_PART})*)[ \t]*\]", re.MULTILINE)
_KEY = re.compile(rf"^[ \t]*({_PART})[ \t]*[=.]", re.MULTILINE)
_PIXI = "pixi.toml"
_HATCH = ("dependencies", "extra-dependencies")


def syntax_error(data: bytes) -> str | None:
    """What is wrong with the file; None where it is TOML."""
    return _parsed(data)[1]


def _parsed(data: bytes) -> tuple[dict[str, Any], str | None]:
    try:
        return parse(data), None
    except NotToml as error:
        return {}, str(error)


def is_pyproject(path: str) -> bool:
    """Whether a path is a pyproject.toml, or the file that has pixi's part of one."""
    return pure(path).name in ("pyproject.toml", _PIXI)


def read(path: str, data: bytes) -> Manifest:
    """Every requirement and index at the place of its literal."""
    document, problem = _parsed(data)
    if problem is not None:
        return Manifest(path, reader.kind, data, unread=((1, problem),))
    found = _Found(data.decode("utf-8"))
    _standard(found, document)
    tool = _table(document, "tool")
    _poetry(found, _table(tool, "poetry"))
    _uv(found, _table(tool, "uv"))
    _others(found, tool)
    alone = pure(path).name == _PIXI
    _pixi(found, document if alone else _table(tool, "pixi"), () if alone else ("tool", "pixi"))
    mentions = sorted(found.mentions, key=lambda item: (item.line, item.column))
    return Manifest(path, reader.kind, data, tuple(mentions), tuple(found.options))


@dataclass
class _Found:
    """What was read so far, and the means to find places."""

    text: str
    mentions: list[Mention] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)

    @cached_property
    def places(self) -> Places:
        return Places(self.text)

    @cached_property
    def literals(self) -> dict[str, list[int]]:
        """Each value of a one-line string, and where it starts."""
        found: dict[str, list[int]] = {}
        for match in STRING_OR_COMMENT.finditer(self.text):
            if match.group()[0] != "#":
                found.setdefault(match.group()[1:-1].replace('\\"', '"'), []).append(match.start() + 1)
        return found

    @cached_property
    def code(self) -> str:
        """The text with comments blanked."""
        return STRING_OR_COMMENT.sub(
            lambda match: " " * len(match.group()) if match.group()[0] == "#" else match.group(), self.text
        )

    @cached_property
    def headings(self) -> dict[tuple[str, ...], int]:
        """The names of each table's headline, and where the first of them ends."""
        found: dict[tuple[str, ...], int] = {}
        for match in _HEADING.finditer(self.code):
            found.setdefault(tuple(part.strip("\"'") for part in re.findall(_PART, match.group(1))), match.end())
        return found

    @cached_property
    def keys(self) -> dict[str, list[int]]:
        """Each key that begins a line, and where it stands."""
        found: dict[str, list[int]] = {}
        for match in _KEY.finditer(self.code):
            quoted = match.group(1)[0] in "\"'"
            found.setdefault(match.group(1).strip("\"'"), []).append(match.start(1) + quoted)
        return found

    def heading(self, *names: str) -> int:
        """Where a table begins; the start of the file where it has no headline of its own."""
        return self.headings.get(names, 0)

    def place(self, value: str, after: int) -> tuple[int, int]:
        """The first literal of this value behind `after` that has not been taken yet."""
        starts = self.literals.get(value, [])
        index = bisect_right(starts, after)
        return self.places.of(starts.pop(index)) if index < len(starts) else (1, 1)

    def key(self, name: str, after: int) -> tuple[int, int]:
        """Where a key stands."""
        starts = self.keys.get(name, [])
        index = bisect_left(starts, after)
        return self.places.of(starts[index]) if index < len(starts) else (1, 1)

    def requirements(self, values: object, section: str, after: int) -> None:
        """A list of PEP 508 strings."""
        for value in _list(values):
            if isinstance(value, str):
                named, given = one_mention(value, *self.place(value, after), section)
                self.mentions += named
                self.options += given

    def named(self, values: dict[str, Any], section: str, after: int) -> None:
        """A table of names, each with a version or a table of its own."""
        for name, value in values.items():
            for entry in value if isinstance(value, list) else [value]:
                details = entry if isinstance(entry, dict) else {"version": entry}
                line, column = self.key(name, after)
                url = next((str(details[key]) for key in ("url", "git", "path") if key in details), "")
                extras = frozenset(map(str, details.get("extras") or ()))
                version = str(details.get("version", "") or "")
                text = f"{name} {version or url}".strip()
                self.mentions.append(Mention(name, text, line, column, line, version, extras, url, section))

    def index(self, urls: object, key: str, after: int) -> None:
        """Addresses under one key; the option begins at the key and ends at the address."""
        for url in urls if isinstance(urls, list) else [urls]:
            if isinstance(url, str) and url:
                last, _ = self.place(url, after)
                line, column = self.key(key, after)
                line, column = (line, column) if line <= last else (last, 1)
                self.options.append(Option((url,), (), line, column, last))


def _table(table: object, *names: str) -> dict[str, Any]:
    """A table below another; empty where it is missing or something else."""
    for name in names:
        table = table.get(name) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _tables(table: object) -> Iterator[tuple[str, Any]]:
    yield from table.items() if isinstance(table, dict) else ()


def _standard(found: _Found, document: dict[str, Any]) -> None:
    build, project = _table(document, "build-system"), _table(document, "project")
    found.requirements(build.get("requires"), "build-system", found.heading("build-system"))
    found.requirements(project.get("dependencies"), "project", found.heading("project"))
    for _, values in _tables(project.get("optional-dependencies")):
        found.requirements(values, "optional", found.heading("project", "optional-dependencies"))
    for _, values in _tables(document.get("dependency-groups")):
        found.requirements(values, "optional", found.heading("dependency-groups"))


def _poetry(found: _Found, poetry: dict[str, Any]) -> None:
    for key in ("dependencies", "dev-dependencies"):
        found.named(_table(poetry, key), "poetry", found.heading("tool", "poetry", key))
    for name, group in _tables(poetry.get("group")):
        after = found.heading("tool", "poetry", "group", name, "dependencies")
        found.named(_table(group, "dependencies"), "poetry", after)
    for source in _list(poetry.get("source")):
        found.index(_table(source).get("url"), "url", found.heading("tool", "poetry", "source"))


def _uv(found: _Found, uv: dict[str, Any]) -> None:
    after = found.heading("tool", "uv")
    for key in ("dev-dependencies", "constraint-dependencies", "override-dependencies"):
        found.requirements(uv.get(key), "uv", after)
    for key in ("index-url", "extra-index-url", "find-links"):
        found.index(uv.get(key), key, after)
    for index in _list(uv.get("index")):
        found.index(_table(index).get("url"), "url", found.heading("tool", "uv", "index"))
    for name, source in _tables(uv.get("sources")):
        details = [item for item in (source if isinstance(source, list) else [source]) if isinstance(item, dict)]
        given = {name: [item for item in details if {"url", "git", "path"} & set(item)]}
        found.named(given, "uv", found.heading("tool", "uv", "sources"))


def _others(found: _Found, tool: dict[str, Any]) -> None:
    for _, values in _tables(_table(tool, "pdm").get("dev-dependencies")):
        found.requirements(values, "pdm", found.heading("tool", "pdm", "dev-dependencies"))
    for source in _list(_table(tool, "pdm").get("source")):
        found.index(_table(source).get("url"), "url", found.heading("tool", "pdm", "source"))
    for name, environment in _tables(_table(tool, "hatch").get("envs")):
        for key in _HATCH:
            after = found.heading("tool", "hatch", "envs", name)
            found.requirements(_table(environment).get(key), "hatch", after)


def _pixi(found: _Found, pixi: dict[str, Any], above: tuple[str, ...]) -> None:
    """Dependencies of the workspace, its features and its targets, and what its tasks install."""
    inner = [((kind, name), table) for kind in ("feature", "target") for name, table in _tables(pixi.get(kind))]
    for names, part in [((), pixi), *inner]:
        for key, section in (("dependencies", "conda"), ("pypi-dependencies", "pixi")):
            found.named(_table(part, key), section, found.heading(*above, *names, key))
    for _, task in _tables(pixi.get("tasks")):
        text = task.get("cmd") if isinstance(task, dict) else task
        place = found.place(text, found.heading(*above, "tasks")) if isinstance(text, str) else (1, 1)
        script = Script()
        for words in shell_commands(text if isinstance(text, str) else "", *place):
            script.take(words)
        found.mentions += script.mentions
        found.options += script.options


reader = Reader(__name__, is_pyproject, read)
