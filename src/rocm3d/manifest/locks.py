"""uv.lock, poetry.lock and pdm.lock: resolved versions and their indexes.

These files are generated with one key per line, so they are read line by line: positions are exact and files of ten
megabytes are fast. Lock files of pip-tools are requirements files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocm3d.manifest.manifest import Manifest, Mention, Option, Reader, pure

SECTION = "lock"
_NAMES = frozenset({"uv.lock", "poetry.lock", "pdm.lock"})
_STRING = re.compile(r'^(?P<key>name|version|url|registry)\s*=\s*"(?P<value>[^"\\]+)"')
_SOURCE = re.compile(r'^source\s*=\s*\{\s*(?P<key>registry|url|git)\s*=\s*"(?P<value>[^"\\]+)"')


@dataclass
class _Package:
    line: int = 0
    name: str = ""
    version: str = ""
    url: str = ""

    def mention(self) -> list[Mention]:
        if not self.name:
            return []
        text = f"{self.name}=={self.version}" if self.version else self.name
        version = f"=={self.version}" if self.version else ""
        return [Mention(self.name, text, self.line, 1, self.line, version, url=self.url, section=SECTION)]


def is_lock(path: str) -> bool:
    return pure(path).name in _NAMES


def read(path: str, data: bytes) -> Manifest:
    """Each package at the line of its name; each index once, at its first occurrence."""
    mentions: list[Mention] = []
    indexes: dict[str, Option] = {}
    package, inside, legacy = _Package(), False, False
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), start=1):
        if line.startswith("["):
            if line.startswith("[[package]]"):
                mentions += package.mention()
                package = _Package()
            inside, legacy = line.startswith("[[package]]"), line.startswith("[package.source]")
            continue
        source, value = _SOURCE.match(line), _STRING.match(line)
        if inside and source and source["key"] == "registry":
            indexes.setdefault(source["value"], Option((source["value"],), (), number, 1, number))
        elif inside and source:
            package.url = source["value"]
        elif legacy and value and value["key"] == "url":
            indexes.setdefault(value["value"], Option((value["value"],), (), number, 1, number))
        elif inside and value and value["key"] == "name":
            package.name, package.line = value["value"], number
        elif inside and value and value["key"] == "version":
            package.version = value["value"]
    mentions += package.mention()
    return Manifest(path, reader.kind, data, tuple(mentions), tuple(indexes.values()))


reader = Reader(__name__, is_lock, read)
