"""The name of this machine and today's date, as documents record them."""

from __future__ import annotations

import platform
from datetime import date, datetime, timezone


def machine_name() -> str:
    """For example `Linux x86_64, Python 3.12.3`."""
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"


def today() -> date:
    """The date in UTC, by which the age of facts is computed."""
    return datetime.now(timezone.utc).date()
