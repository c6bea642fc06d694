"""This machine and this day, as documents name them."""

from __future__ import annotations

import platform
from datetime import date, datetime, timezone


def machine() -> str:
    """In a line."""
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"


def today() -> date:
    """By which facts are old or new."""
    return datetime.now(timezone.utc).date()
