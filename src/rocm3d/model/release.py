"""The release date of the knowledge base. No fact in it may be newer."""

from __future__ import annotations

import datetime

from rocm3d.model.base import Record


class Release(Record):
    """knowledge/release.toml."""

    date: datetime.date
