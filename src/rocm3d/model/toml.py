"""A parser for untrusted TOML: bounded time and memory, error messages of one line."""

from __future__ import annotations

import re
import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

STRING_OR_COMMENT = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)|"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?|#[^\n]*', re.DOTALL
)
_NAME = re.compile(r"[ \t]*[\w-]+[ \t]*")
_MAX_CHARACTERS = 300_000
_MAX_DEPTH = 60


class TomlError(ValueError):
    """The bytes are not TOML, or exceed a limit."""


def parse(data: bytes) -> dict[str, Any]:
    """Parse TOML, or raise TomlError. Messages start with a verb: the caller puts the file name in front."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TomlError("is not UTF-8, so it is not TOML") from error
    if len(text) > _MAX_CHARACTERS:
        raise TomlError("is too large to be read as TOML")
    if _has_deep_key(text):
        raise TomlError("nests too deeply to be read as TOML")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise TomlError("nests too deeply to be read as TOML") from error
    except ValueError as error:  # also raised by integers with too many digits
        raise TomlError(f"is not valid TOML: {error}") from error


def _has_deep_key(text: str) -> bool:
    """Whether a dotted key has too many parts. The parser needs quadratic time and memory for them."""
    for line in STRING_OR_COMMENT.sub(lambda match: "" if match.group()[0] == "#" else "s", text).split("\n"):
        depth = 0
        for part in line.split(".") if line.count(".") >= _MAX_DEPTH else ():
            depth = depth + 1 if _NAME.fullmatch(part) else 0
            if depth >= _MAX_DEPTH:
                return True
    return False
