"""pyproject.toml: whether it can be read at all. Executes nothing."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def syntax_error(data: bytes) -> str | None:
    """What is wrong with the file; None where it is TOML."""
    try:
        tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        return "is not UTF-8, so it is not TOML"
    except tomllib.TOMLDecodeError as error:
        return f"is not valid TOML: {error}"
    except RecursionError:
        return "nests too deeply to be read as TOML"
    return None
