"""Identifies the backend of a GPU kernel by its name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.model.backend import Backend


def backend_of_kernel(name: str, backends: Iterable[Backend]) -> Backend | None:
    """The first backend whose pattern matches. The order of backends.toml is significant."""
    return next((backend for backend in backends if re.search(backend.pattern, name)), None)
