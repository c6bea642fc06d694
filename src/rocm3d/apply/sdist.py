"""Excludes the port folder from source distributions that include every file by default.

The commands of MANIFEST.in are those of https://setuptools.pypa.io/en/latest/userguide/miscellaneous.html.
hatchling includes every file that git does not ignore: https://hatch.pypa.io/latest/config/build/#file-selection.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Any

from rocm3d.model.toml import TomlError, parse
from rocm3d.syntax.isolation import BLOCK_BEGIN, BLOCK_END, MANIFEST_FILE, PROJECT_FILE, SDIST_TABLE
from rocm3d.workspace.tree import Tree

_BACKEND = "hatchling.build"
# If this file exists, hatchling ignores its settings in pyproject.toml.
_HATCH_SETTINGS_FILE = "hatch.toml"


def exclusions(tree: Tree, folder: str) -> Iterator[tuple[str, bytes]]:
    """The edited files that control the contents of source distributions, with the port folder excluded."""
    for path, edited in (
        (MANIFEST_FILE, manifest_without_folder(tree, folder)),
        (PROJECT_FILE, project_without_folder(tree, folder)),
    ):
        if edited is not None:
            yield path, edited


def manifest_without_folder(tree: Tree, folder: str) -> bytes | None:
    """MANIFEST.in with a `prune` command appended; None if it is missing or does not include the folder."""
    data = tree.read(MANIFEST_FILE) if MANIFEST_FILE in tree else None
    if (
        data is None
        or b"\0" in data
        or BLOCK_BEGIN in data
        or not _includes_folder(data, folder)
        or not _has_no_pattern_characters(folder)
    ):
        return None
    return _with_block(data, f"prune {folder}")


def project_without_folder(tree: Tree, folder: str) -> bytes | None:
    """pyproject.toml with an sdist table appended; None if hatchling is not used or already has such settings."""
    data = tree.read(PROJECT_FILE) if PROJECT_FILE in tree and _HATCH_SETTINGS_FILE not in tree else None
    if data is None or BLOCK_BEGIN in data or not _has_no_pattern_characters(folder):
        return None
    try:
        document = parse(data)
    except TomlError:
        return None
    if _table(document, "build-system").get("build-backend") != _BACKEND:
        return None
    # Settings of the sdist target replace the general ones: an existing list would be lost or defined twice.
    if _table(document, *SDIST_TABLE) or "exclude" in _table(document, *SDIST_TABLE[:3]):
        return None
    return _with_block(data, f"[{'.'.join(SDIST_TABLE)}]", f'exclude = ["/{folder}"]')


def _with_block(data: bytes, *lines: str) -> bytes:
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    start = data if data.endswith(b"\n") or not data else data + newline
    return start + newline.join([BLOCK_BEGIN, *(line.encode() for line in lines), BLOCK_END, b""])


def _table(document: dict[str, Any], *names: str) -> dict[str, Any]:
    table: Any = document
    for name in names:
        table = table.get(name) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}


def _includes_folder(data: bytes, folder: str) -> bool:
    lines = data.decode("utf-8", "replace").replace("\\\r\n", " ").replace("\\\n", " ").splitlines()
    return any(_command_includes(line.partition("#")[0].split(), folder) for line in lines)


def _command_includes(words: list[str], folder: str) -> bool:
    match words:
        case ["global-include", *_]:
            return True
        case ["graft" | "recursive-include", where, *_]:
            return where.strip("/") in (".", "") or fnmatch(folder, where.strip("/").split("/")[0])
        case ["include", *patterns]:
            return any("/" in text and fnmatch(folder, text.split("/")[0]) for text in patterns)
    return False


def _has_no_pattern_characters(folder: str) -> bool:
    return not set(folder) & set("*?[] \t#\\")
