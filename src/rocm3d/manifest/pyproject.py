"""pyproject.toml. Executes nothing."""

from __future__ import annotations

import sys
from pathlib import PurePosixPath

from rocm3d.manifest.manifest import Manifest, Reader

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


def is_pyproject(path: str) -> bool:
    """Whether a path is a pyproject.toml."""
    return PurePosixPath(path).name == "pyproject.toml"


def read(path: str, data: bytes) -> Manifest:
    """Whether it can be read at all."""
    problem = syntax_error(data)
    return Manifest(path, reader.kind, data, unread=() if problem is None else ((1, problem),))


reader = Reader(__name__, is_pyproject, read)
