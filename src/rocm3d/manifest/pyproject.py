"""pyproject.toml: requirements of PEP 621 and 735, poetry, pdm, hatch, uv, pixi, and their indexes. Executes nothing.

The TOML library says what is there, but not where. So each value is looked up again among the string literals of the
text, behind the heading of its table; a value that cannot be found that way stands at the first line.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from rocm3d.manifest.manifest import Manifest, Mention, Option, Reader
from rocm3d.manifest.script import Places, one_mention

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)|"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?|#[^\n]*', re.DOTALL
)
_HATCH = ("dependencies", "extra-dependencies")


def syntax_error(data: bytes) -> str | None:
    """What is wrong with the file; None where it is TOML."""
    return _parsed(data)[1]


def _parsed(data: bytes) -> tuple[dict[str, Any], str | None]:
    try:
        return tomllib.loads(data.decode("utf-8")), None
    except UnicodeDecodeError:
        return {}, "is not UTF-8, so it is not TOML"
    except ValueError as error:  # also of numbers that are too long to be read
        return {}, f"is not valid TOML: {error}"
    except RecursionError:
        return {}, "nests too deeply to be read as TOML"


def is_pyproject(path: str) -> bool:
    """Whether a path is a pyproject.toml."""
    return PurePosixPath(path).name == "pyproject.toml"


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
    mentions = sorted(found.mentions, key=lambda item: (item.line, item.column))
    return Manifest(path, reader.kind, data, tuple(mentions), tuple(found.options))


@dataclass
class _Found:
    """What was read so far, and the means to find places."""

    text: str
    mentions: list[Mention] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    used: set[int] = field(default_factory=set)

    @cached_property
    def places(self) -> Places:
        return Places(self.text)

    @cached_property
    def literals(self) -> dict[str, list[int]]:
        """Each value of a one-line string, and where it starts."""
        found: dict[str, list[int]] = {}
        for match in _TOKEN.finditer(self.text):
            if match.group()[0] != "#":
                found.setdefault(match.group()[1:-1].replace('\\"', '"'), []).append(match.start() + 1)
        return found

    @cached_property
    def code(self) -> str:
        """The text with comments blanked."""
        return _TOKEN.sub(
            lambda match: " " * len(match.group()) if match.group()[0] == "#" else match.group(), self.text
        )

    def heading(self, *names: str) -> int:
        """Where a table begins; the start of the file where it has no headline of its own."""
        dotted = r"\s*\.\s*".join(f"[\"']?{re.escape(name)}[\"']?" for name in names)
        match = re.search(rf"^[ \t]*\[\[?\s*{dotted}\s*\]", self.code, re.MULTILINE)
        return match.end() if match else 0

    def place(self, value: str, after: int) -> tuple[int, int]:
        """The first literal of this value behind `after` that has not been taken yet."""
        for start in self.literals.get(value, ()):
            if start > after and start not in self.used:
                self.used.add(start)
                return self.places.of(start)
        return 1, 1

    def key(self, name: str, after: int) -> tuple[int, int]:
        """Where a key stands."""
        match = re.compile(rf"^[ \t]*[\"']?({re.escape(name)})[\"']?\s*[=.]", re.MULTILINE).search(self.code, after)
        return self.places.of(match.start(1)) if match else (1, 1)

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
            if isinstance(url, str):
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
    pixi = _table(tool, "pixi")
    found.named(_table(pixi, "dependencies"), "conda", found.heading("tool", "pixi", "dependencies"))
    found.named(_table(pixi, "pypi-dependencies"), "pixi", found.heading("tool", "pixi", "pypi-dependencies"))


reader = Reader(__name__, is_pyproject, read)
