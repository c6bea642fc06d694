"""Caches of compiled kernels that are empty: what fills them makes a first run long, and is not a hang."""

from __future__ import annotations

import getpass
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.variable import Variable


def cold_caches(knowledge: Knowledge) -> tuple[str, ...]:
    """The variables of those that hold nothing."""
    caches = (item for item in knowledge.variables.values() if item.cache)
    return tuple(sorted(item.id for item in caches if not _holds(place(item, os.environ))))


def place(variable: Variable, environment: Mapping[str, str]) -> Path:
    """The folder that a variable names, or its record where it is not set."""
    asked = environment.get(variable.id)
    # Not format(): a folder is only what the record says.
    named = variable.cache.replace("{user}", getpass.getuser()).replace("{temp}", tempfile.gettempdir())
    return Path(asked or named).expanduser()


def _holds(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except OSError:
        return False
