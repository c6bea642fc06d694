"""uv.lock, poetry.lock and pdm.lock: resolved versions and their indexes.

These files are generated with one key per line, so they are read line by line: positions are exact and files of ten
megabytes are fast. Lock files of pip-tools are requirements files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocm3d.manifest.manifest import InstallOption, ManifestReader, Mention, ParsedManifest, has_name

SECTION = "lock"
_STRING = re.compile(r'^(?P<key>name|version|url|registry)\s*=\s*"(?P<value>[^"\\]+)"')
_SOURCE = re.compile(r'^source\s*=\s*\{\s*(?P<key>registry|url|git)\s*=\s*"(?P<value>[^"\\]+)"')


@dataclass
class _LockedPackage:
    line: int = 0
    name: str = ""
    version: str = ""
    url: str = ""

    def mentions(self) -> list[Mention]:
        if not self.name:
            return []
        version, line = f"=={self.version}" if self.version else "", self.line
        return [Mention(self.name, self.name + version, line, 1, line, version, url=self.url, section=SECTION)]


def read(path: str, data: bytes) -> ParsedManifest:
    """Each package at the line of its name; each index once, at its first occurrence."""
    mentions: list[Mention] = []
    indexes: dict[str, InstallOption] = {}
    package, in_package, in_source = _LockedPackage(), False, False
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), start=1):
        if line.startswith("["):
            if line.startswith("[[package]]"):
                mentions += package.mentions()
                package = _LockedPackage()
            in_package, in_source = line.startswith("[[package]]"), line.startswith("[package.source]")
            continue
        source, value = _SOURCE.match(line), _STRING.match(line)
        if in_package and source and source["key"] == "registry":
            indexes.setdefault(source["value"], InstallOption((source["value"],), (), number, 1, number))
        elif in_package and source:
            package.url = source["value"]
        elif in_source and value and value["key"] == "url":
            indexes.setdefault(value["value"], InstallOption((value["value"],), (), number, 1, number))
        elif in_package and value and value["key"] == "name":
            package.name, package.line = value["value"], number
        elif in_package and value and value["key"] == "version":
            package.version = value["value"]
    mentions += package.mentions()
    return ParsedManifest(path, reader.kind, data, tuple(mentions), tuple(indexes.values()))


reader = ManifestReader(__name__, has_name("uv.lock", "poetry.lock", "pdm.lock"), read)
