"""Other people's TOML, within bounds: what is wrong with it is one line, and no file takes minutes or gigabytes."""

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


class NotToml(ValueError):  # noqa: N818  (says what the bytes are)
    """The bytes are not TOML, or more of it than is read."""


def parse(data: bytes) -> dict[str, Any]:
    """The document, or NotToml with what is wrong."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotToml("is not UTF-8, so it is not TOML") from error
    if len(text) > _MAX_CHARACTERS:
        raise NotToml("is too large to be read as TOML")
    if _is_deep(text):
        raise NotToml("nests too deeply to be read as TOML")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise NotToml("nests too deeply to be read as TOML") from error
    except ValueError as error:  # also of numbers that are too long to be read
        raise NotToml(f"is not valid TOML: {error}") from error


def _is_deep(text: str) -> bool:
    """Whether a key has more parts than any real one: the parser takes the square of it in time and memory."""
    names = STRING_OR_COMMENT.sub(lambda match: "" if match.group()[0] == "#" else "s", text)
    for line in names.split("\n"):
        run = 0
        for part in line.split(".") if line.count(".") >= _MAX_DEPTH else ():
            run = run + 1 if _NAME.fullmatch(part) else 0
            if run >= _MAX_DEPTH:
                return True
    return False
