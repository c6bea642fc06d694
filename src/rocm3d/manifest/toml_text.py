"""Requirements and indexes of a TOML file with their positions.

The TOML library reports no positions. So each value is searched again among the string literals after the heading of
its table; a value that is not found gets line 1, column 1.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from packaging.utils import canonicalize_name

from rocm3d.manifest.manifest import InstallOption, Mention, PythonRange
from rocm3d.manifest.script import LineIndex, ManifestBuilder
from rocm3d.manifest.version_ranges import pip_specifier
from rocm3d.model.toml import STRING_OR_COMMENT

_PART = r"(?:\"[^\"\n]*\"|'[^'\n]*'|[\w-]+)"
_HEADING = re.compile(rf"^[ \t]*\[\[?[ \t]*({_PART}(?:[ \t]*\.[ \t]*{_PART})*)[ \t]*\]", re.MULTILINE)
_KEY = re.compile(rf"^[ \t]*({_PART})[ \t]*[=.]", re.MULTILINE)
_URL_KEYS = ("url", "git", "path", "file")
_INDEX_KEYS = ("index", "source", "channel")
_REVISION_KEYS = ("rev", "ref", "tag", "branch")
# Environment markers that pipenv accepts as keys; the value is the comparison.
_MARKERS = ("sys_platform", "platform_system", "platform_machine", "os_name", "python_version", "implementation_name")


@dataclass
class TomlText:
    """Collects mentions and options of one file, and finds the positions of values."""

    text: str
    builder: ManifestBuilder = field(default_factory=ManifestBuilder)
    index_names: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def line_index(self) -> LineIndex:
        return LineIndex(self.text)

    @cached_property
    def literals(self) -> dict[str, list[int]]:
        """Offsets of each one-line string literal, by value."""
        offsets: dict[str, list[int]] = {}
        for match in STRING_OR_COMMENT.finditer(self.text):
            if match.group()[0] != "#":
                offsets.setdefault(match.group()[1:-1].replace('\\"', '"'), []).append(match.start() + 1)
        return offsets

    @cached_property
    def code(self) -> str:
        return STRING_OR_COMMENT.sub(
            lambda match: " " * len(match.group()) if match.group()[0] == "#" else match.group(), self.text
        )

    @cached_property
    def headings(self) -> dict[tuple[str, ...], int]:
        """The end offset of the first heading of each table, by its key path."""
        ends: dict[tuple[str, ...], int] = {}
        for match in _HEADING.finditer(self.code):
            ends.setdefault(tuple(part.strip("\"'") for part in re.findall(_PART, match.group(1))), match.end())
        return ends

    @cached_property
    def keys(self) -> dict[str, list[int]]:
        """Offsets of each key at the start of a line."""
        offsets: dict[str, list[int]] = {}
        for match in _KEY.finditer(self.code):
            quoted = match.group(1)[0] in "\"'"
            offsets.setdefault(match.group(1).strip("\"'"), []).append(match.start(1) + quoted)
        return offsets

    def heading_end(self, *names: str) -> int:
        """The offset after the heading of a table; 0 if it has no heading."""
        return self.headings.get(names, 0)

    def value_position(self, value: str, after: int) -> tuple[int, int]:
        """Line and column of the first unused literal with this value after an offset. Marks it as used."""
        starts = self.literals.get(value, [])
        index = bisect_right(starts, after)
        return self.line_index.position(starts.pop(index)) if index < len(starts) else (1, 1)

    def key_position(self, name: str, after: int) -> tuple[int, int]:
        """Line and column of a key after an offset."""
        starts = self.keys.get(name, [])
        index = bisect_left(starts, after)
        return self.line_index.position(starts[index]) if index < len(starts) else (1, 1)

    def add_requirements(self, values: object, section: str, after: int) -> None:
        """Add a list of PEP 508 strings."""
        for value in as_list(values):
            if isinstance(value, str):
                self.builder.add_requirement(value, *self.value_position(value, after), section)

    def add_distributions(self, values: dict[str, Any], section: str, after: int) -> None:
        """Add a table of distributions, each with a version or a table of details."""
        for name, value in values.items():
            for entry in value if isinstance(value, list) else [value]:
                details = entry if isinstance(entry, dict) else {"version": entry}
                line, column = self.key_position(name, after)
                url = _source_url(details)
                extras = frozenset(map(str, as_list(details.get("extras"))))
                version = str(details.get("version", "") or "")
                text = _with_markers(f"{name} {version or url}".strip(), name, version, details)
                indexes = tuple(str(details[key]) for key in _INDEX_KEYS if details.get(key))
                self.builder.mentions.append(
                    Mention(name, text, line, column, line, version, extras, url, section, indexes)
                )

    def add_python(self, value: object, after: int, *, required: bool = False) -> None:
        """Add a range of Python versions."""
        specifier = pip_specifier(value.strip()) if isinstance(value, str) else ""
        if isinstance(value, str) and specifier:
            self.builder.pythons.append(PythonRange(specifier, *self.value_position(value, after), required))

    def add_sources(self, tables: object, *heading: str, first_only: bool = False) -> None:
        """Add the index URL of each table in a list of tables.

        An index with `explicit` serves only distributions that name it; with `first_only` so do all but the first.
        """
        for number, table in enumerate(map(nested_table, as_list(tables))):
            named = table.get("explicit") is True or table.get("priority") == "explicit" or (first_only and number > 0)
            start = len(self.builder.options)
            self.add_indexes(table.get("url"), "url", self.heading_end(*heading))
            self.builder.options[start:] = [
                replace(option, name=str(table.get("name", "")), scope="named" if named else "file")
                for option in self.builder.options[start:]
            ]

    def add_index_names(self, values: dict[str, Any]) -> None:
        """Add distributions of which a table names only the index, as [tool.uv.sources] does."""
        for name, value in values.items():
            indexes = tuple(
                str(entry["index"])
                for entry in (value if isinstance(value, list) else [value])
                if isinstance(entry, dict) and entry.get("index")
            )
            if indexes:
                self.index_names[str(canonicalize_name(name))] = indexes

    def assign_indexes(self) -> None:
        """Give the mentions the indexes that add_index_names collected."""
        self.builder.mentions = [
            replace(mention, indexes=(*mention.indexes, *names))
            if (names := self.index_names.get(str(canonicalize_name(mention.name))))
            else mention
            for mention in self.builder.mentions
        ]

    def add_indexes(self, urls: object, key: str, after: int) -> None:
        """Add the index URLs of one key; the option spans from the key to the URL."""
        for url in urls if isinstance(urls, list) else [urls]:
            if isinstance(url, str) and url:
                last, _ = self.value_position(url, after)
                positions = map(
                    self.line_index.position, self.keys.get(key, [])[bisect_left(self.keys.get(key, []), after) :]
                )
                line, column = max((position for position in positions if position[0] <= last), default=(last, 1))
                links = key.replace("_", "-") == "find-links"
                self.builder.options.append(InstallOption((url,), (), line, column, last, links=links))


def nested_table(value: object, *names: str) -> dict[str, Any]:
    """The nested table at a key path; empty if it is missing or not a table."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a list, else an empty list."""
    return value if isinstance(value, list) else []


def _source_url(details: dict[str, Any]) -> str:
    """The URL or path of a package that is not from an index; a repository as pip writes it, with its revision."""
    url = next((str(details[key]) for key in _URL_KEYS if key in details), "")
    if "git" not in details or "url" in details or "://" not in url:
        return url
    revision = next((str(details[key]) for key in _REVISION_KEYS if key in details), "")
    return f"git+{url.removeprefix('git+')}" + (f"@{revision}" if revision else "")


def _with_markers(text: str, name: str, version: str, details: dict[str, Any]) -> str:
    """The text as a requirement with its environment markers, if it has any."""
    markers = [str(details["markers"])] if details.get("markers") else []
    markers += [f"{key} {details[key]}" for key in _MARKERS if isinstance(details.get(key), str)]
    if not markers:
        return text
    return f"{name}{'' if version == '*' else version}; {' and '.join(f'({marker})' for marker in markers)}"
