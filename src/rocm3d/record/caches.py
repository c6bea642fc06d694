"""Empty caches of compiled kernels: a first run that fills them is slow and must not be taken for a hang."""

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
    """Names of the variables whose cache folder is missing or empty."""
    caches = (item for item in knowledge.variables.values() if item.cache)
    return tuple(sorted(item.id for item in caches if not _holds(place(item, os.environ))))


def place(variable: Variable, environment: Mapping[str, str]) -> Path:
    """The cache folder that a variable sets, or the default of its record."""
    asked = environment.get(variable.id)
    # Not format(): other braces in the path stay literal.
    named = variable.cache.replace("{user}", getpass.getuser()).replace("{temp}", tempfile.gettempdir())
    return Path(asked or named).expanduser()


def _holds(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except OSError:
        return False
