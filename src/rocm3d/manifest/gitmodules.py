""".gitmodules: submodules, each at the position of its section header."""

from __future__ import annotations

import re

from rocm3d.manifest.manifest import ManifestReader, ParsedManifest, Submodule, has_name

_HEADER = re.compile(r'(?P<indent>\s*)\[\s*submodule\s+"(?P<name>[^"]*)"\s*\]', re.IGNORECASE)
_OTHER_SECTION = re.compile(r"\s*\[")
_VALUE = re.compile(r"\s*(?P<key>path|url)\s*=\s*(?P<value>.*?)\s*$", re.IGNORECASE)


def read(path: str, data: bytes) -> ParsedManifest:
    """Read all submodules; the path defaults to the name, as in git."""
    entries: list[tuple[int, int, dict[str, str]]] = []
    values: dict[str, str] = {}
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), start=1):
        header, value = _HEADER.match(line), _VALUE.match(line)
        if header or _OTHER_SECTION.match(line):
            values = {}  # of another section, unless an entry refers to it
        if header:
            values["path"] = header["name"]
            entries.append((number, len(header["indent"]) + 1, values))
        elif value:
            values[value["key"].lower()] = value["value"].strip('"')
    submodules = (Submodule(v["path"], v.get("url", ""), number, column) for number, column, v in entries)
    return ParsedManifest(path, reader.kind, data, submodules=tuple(submodules))


reader = ManifestReader(__name__, has_name(".gitmodules"), read)
