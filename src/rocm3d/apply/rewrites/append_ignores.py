"""Ignores files that hipify generates, with one marked block at the end of an ignore file. Parameters: patterns."""

from __future__ import annotations

from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.model.text import Text
from rocm3d.syntax.isolation import BLOCK_BEGIN, BLOCK_END


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Appends the missing patterns; a file that deliberately includes hip files with `!` is refused."""
    lines = {line.strip() for line in data.splitlines()}
    patterns = [pattern.encode() for pattern in list_parameter(parameters, "patterns")]
    if any(line.startswith(b"!") and b"hip" in line.lower() for line in lines):
        raise RewriteRefusedError("a ! pattern in this file includes hip files on purpose")
    missing = [pattern for pattern in patterns if pattern not in lines and not _is_covered(pattern, lines)]
    if not missing or BLOCK_BEGIN in lines:
        return data
    newline = Text(data).newline
    start = data if data.endswith(b"\n") or not data else data + newline
    return start + newline.join([BLOCK_BEGIN, *missing, BLOCK_END]) + newline


def _is_covered(pattern: bytes, lines: set[bytes]) -> bool:
    """`*_hip.*` covers every `*_hip.x`."""
    stem, _, suffix = pattern.rpartition(b".")
    return bool(suffix) and stem + b".*" in lines
