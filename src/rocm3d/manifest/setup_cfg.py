"""setup.cfg: install_requires, setup_requires, tests_require and extras, read line by line for exact positions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm3d.manifest.manifest import InstallOption, ManifestReader, ParsedManifest, PythonRange, has_name
from rocm3d.manifest.script import ManifestBuilder
from rocm3d.manifest.version_ranges import pip_specifier

_HEADER = re.compile(r"\[(?P<name>[^\]]*)\]")
_KEY = re.compile(r"(?P<key>[\w.-]+)\s*[=:]\s*")
_PYTHON = "python_requires"
_KEYS = frozenset({"install_requires", "setup_requires", "tests_require", _PYTHON})
_EXTRAS = "options.extras_require"


def read(path: str, data: bytes) -> ParsedManifest:
    """Read all requirements; `file:` entries are includes, and invalid requirements are left out."""
    builder = ManifestBuilder()
    for section, text, line, column in _entries(data.decode("utf-8", "replace")):
        if section == _PYTHON:
            builder.pythons.append(PythonRange(pip_specifier(text), line, column, required=True))
        elif text.startswith("file:"):
            names = tuple(name.strip() for name in text.removeprefix("file:").split(",") if name.strip())
            builder.options.append(InstallOption((), names, line, column, line))
        else:
            builder.add_requirement(text, line, column, section)
    return builder.manifest(path, reader.kind, data)


def _entries(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Section, text, line and column of each requirement: on the line of its key, or indented below."""
    header = section = ""
    for number, line in enumerate(text.split("\n"), start=1):
        stripped, start = line.strip(), len(line) - len(line.lstrip())
        if not stripped or stripped[0] in "#;":
            continue
        if not start:
            match, section = _HEADER.match(line), ""
            key = _KEY.match(line)
            if match:
                header = match["name"].strip()
                continue
            if key and header == "options" and key["key"] in _KEYS:
                section = key["key"]
            elif key and header == _EXTRAS:
                section = "extras_require"
            stripped, start = (line[key.end() :].strip(), key.end()) if key else ("", 0)
        if section and stripped:
            yield section, re.sub(r"\s+#.*$", "", stripped), number, start + 1


reader = ManifestReader(__name__, has_name("setup.cfg"), read)
