"""Pipfile of pipenv: packages of every category, and their indexes.

Format: https://pipenv.pypa.io/en/latest/pipfile.html
"""

from __future__ import annotations

from rocm3d.manifest.manifest import CATEGORY_SECTION, ManifestReader, ParsedManifest, has_name
from rocm3d.manifest.toml_text import TomlText, nested_table
from rocm3d.model.toml import parse

SECTION = "pipenv"
_MAIN = "packages"
# Tables that are not package categories.
_NOT_CATEGORIES = frozenset({"source", "requires", "scripts", "pipenv"})


def _parse(path: str, data: bytes) -> ParsedManifest:
    """Read all categories: their names are free, so every other table is a category."""
    document, toml_text = parse(data), TomlText(data.decode("utf-8"))
    # A package without `index` comes from the first source: https://pipenv.pypa.io/en/latest/indexes.html
    toml_text.add_sources(document.get("source"), "source", first_only=True)
    for key in ("python_version", "python_full_version"):
        toml_text.add_python(nested_table(document.get("requires")).get(key), toml_text.heading_end("requires"))
    for category, values in document.items():
        if category not in _NOT_CATEGORIES:
            section = SECTION if category == _MAIN else f"{CATEGORY_SECTION}:{category}"
            toml_text.add_distributions(nested_table(values), section, toml_text.heading_end(category))
    toml_text.builder.sort_mentions()
    return toml_text.builder.manifest(path, reader.kind, data)


reader = ManifestReader(__name__, has_name("Pipfile"), _parse)
