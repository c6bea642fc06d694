"""Pipfile of pipenv: packages of every category, and their indexes.

Format: https://pipenv.pypa.io/en/latest/pipfile.html
"""

from __future__ import annotations

from rocm3d.manifest.manifest import ManifestReader, ParsedManifest, posix_path
from rocm3d.manifest.toml_text import TomlText, as_list, nested_table, parse_toml, table_items

SECTION = "pipenv"
CATEGORY_SECTION = "pipenv-category"
_MAIN = "packages"
# Tables that are not package categories.
_NOT_CATEGORIES = frozenset({"source", "requires", "scripts", "pipenv"})


def is_pipfile(path: str) -> bool:
    """Whether a path is a Pipfile; Pipfile.lock is not read."""
    return posix_path(path).name == "Pipfile"


def read(path: str, data: bytes) -> ParsedManifest:
    """Read all categories: their names are free, so every other table is a category."""
    document, problem = parse_toml(data)
    if problem is not None:
        return ParsedManifest(path, reader.kind, data, unread=((1, problem),))
    toml_text = TomlText(data.decode("utf-8"))
    for source in as_list(document.get("source")):
        toml_text.add_indexes(nested_table(source).get("url"), "url", toml_text.heading_end("source"))
    for category, values in table_items(document):
        if category not in _NOT_CATEGORIES:
            section = SECTION if category == _MAIN else f"{CATEGORY_SECTION}:{category}"
            toml_text.add_distributions(nested_table(values), section, toml_text.heading_end(category))
    mentions = sorted(toml_text.mentions, key=lambda mention: (mention.line, mention.column))
    return ParsedManifest(path, reader.kind, data, tuple(mentions), tuple(toml_text.options))


reader = ManifestReader(__name__, is_pipfile, read)
