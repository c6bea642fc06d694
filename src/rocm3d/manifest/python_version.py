""".python-version of pyenv and uv: the Python version of the repository's own environment."""

from __future__ import annotations

import re

from rocm3d.manifest.manifest import ManifestReader, ParsedManifest, PythonRange, has_name

_VERSION = re.compile(r"[ \t]*(?:cpython-?)?(3\.\d+)(?![\w-])", re.IGNORECASE)


def _parse(path: str, data: bytes) -> ParsedManifest:
    """The CPython versions, one on each line. A patch release is no requirement, so only the minor version counts."""
    lines = data.decode("utf-8", "replace").split("\n")
    matches = ((number, match) for number, line in enumerate(lines, 1) if (match := _VERSION.match(line)))
    pythons = (PythonRange(f"=={match[1]}.*", number, match.start(1) + 1) for number, match in matches)
    return ParsedManifest(path, reader.kind, data, pythons=tuple(pythons))


reader = ManifestReader(__name__, has_name(".python-version"), _parse)
read = reader.read
