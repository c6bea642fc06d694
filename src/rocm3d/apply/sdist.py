"""Keeps the port's folder out of source distributions whose MANIFEST.in takes whatever lies about.

The commands are those of https://setuptools.pypa.io/en/latest/userguide/miscellaneous.html.
"""

from __future__ import annotations

from fnmatch import fnmatch
from typing import TYPE_CHECKING

from rocm3d.syntax.isolation import BEGIN, END

if TYPE_CHECKING:
    from rocm3d.workspace.tree import Tree

MANIFEST = "MANIFEST.in"


def manifest(tree: Tree, folder: str) -> bytes | None:
    """MANIFEST.in with one more command at its end; None where it is not there or does not reach the folder."""
    data = tree.read(MANIFEST) if MANIFEST in tree else None
    if data is None or b"\0" in data or BEGIN in data or not _reaches(data, folder) or not _is_plain(folder):
        return None
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    start = data if data.endswith(b"\n") or not data else data + newline
    return start + newline.join([BEGIN, f"prune {folder}".encode(), END, b""])


def _reaches(data: bytes, folder: str) -> bool:
    lines = data.decode("utf-8", "replace").replace("\\\r\n", " ").replace("\\\n", " ").splitlines()
    return any(_takes(line.partition("#")[0].split(), folder) for line in lines)


def _takes(words: list[str], folder: str) -> bool:
    match words:
        case ["global-include", *_]:
            return True
        case ["graft" | "recursive-include", where, *_]:
            return where.strip("/") in (".", "") or fnmatch(folder, where.strip("/").split("/")[0])
        case ["include", *patterns]:
            return any("/" in text and fnmatch(folder, text.split("/")[0]) for text in patterns)
    return False


def _is_plain(folder: str) -> bool:
    return not set(folder) & set("*?[] \t#\\")
