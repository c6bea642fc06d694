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
    caches = (variable for variable in knowledge.variables.values() if variable.cache)
    return tuple(sorted(variable.id for variable in caches if not _has_entries(cache_folder(variable, os.environ))))


def cache_folder(variable: Variable, environment: Mapping[str, str]) -> Path:
    """The cache folder that a variable sets, or the default of its record."""
    configured = environment.get(variable.id)
    # Not format(): other braces in the path stay literal.
    default = variable.cache.replace("{user}", getpass.getuser()).replace("{temp}", tempfile.gettempdir())
    return Path(configured or default).expanduser()


def _has_entries(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except OSError:
        return False
