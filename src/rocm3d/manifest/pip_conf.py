"""pip.conf and pip.ini: the indexes that every pip install of the repository uses once the file is in place.

Format: https://pip.pypa.io/en/stable/topics/configuration/
"""

from __future__ import annotations

import re

from rocm3d.manifest.manifest import InstallOption, ManifestReader, ParsedManifest, has_name

_KEY = re.compile(r"(?P<key>[\w-]+)\s*[=:]\s*(?P<value>.*)$")
_INDEXES = frozenset({"index-url", "extra-index-url", "find-links"})


def read(path: str, data: bytes) -> ParsedManifest:
    """Read the index settings of all sections, line by line for exact positions. A value may continue indented."""
    options: list[InstallOption] = []
    key = ""
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), start=1):
        text = line.strip()
        if not text or text[0] in "#;[":
            key = "" if text.startswith("[") else key
            continue
        match = None if line[:1].isspace() else _KEY.match(text)
        key = match["key"].lower().replace("_", "-") if match else key
        column = len(line) - len(line.lstrip()) + 1
        for url in (match["value"] if match else text).split() if key in _INDEXES else ():
            links = key == "find-links"
            options.append(InstallOption((url,), (), number, column, number, scope="environment", links=links))
    return ParsedManifest(path, reader.kind, data, options=tuple(options))


reader = ManifestReader(__name__, has_name("pip.conf", "pip.ini"), read)
