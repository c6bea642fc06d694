"""Pipfile of pipenv: packages of every category, and their indexes.

Format: https://pipenv.pypa.io/en/latest/pipfile.html
"""

from __future__ import annotations

from rocm3d.manifest.manifest import Manifest, Reader, pure
from rocm3d.manifest.toml_text import TomlText, entries, listed, parsed, table_of

SECTION = "pipenv"
OTHER = "pipenv-category"
_MAIN = "packages"
# Tables that are not package categories.
_OTHERS = frozenset({"source", "requires", "scripts", "pipenv"})


def is_pipfile(path: str) -> bool:
    """Whether a path is a Pipfile; Pipfile.lock is not read."""
    return pure(path).name == "Pipfile"


def read(path: str, data: bytes) -> Manifest:
    """Read all categories: their names are free, so every other table is a category."""
    document, problem = parsed(data)
    if problem is not None:
        return Manifest(path, reader.kind, data, unread=((1, problem),))
    found = TomlText(data.decode("utf-8"))
    for source in listed(document.get("source")):
        found.index(table_of(source).get("url"), "url", found.heading("source"))
    for category, values in entries(document):
        if category not in _OTHERS:
            section = SECTION if category == _MAIN else f"{OTHER}:{category}"
            found.named(table_of(values), section, found.heading(category))
    mentions = sorted(found.mentions, key=lambda item: (item.line, item.column))
    return Manifest(path, reader.kind, data, tuple(mentions), tuple(found.options))


reader = Reader(__name__, is_pipfile, read)
