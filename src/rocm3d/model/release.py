"""When the knowledge base was released: no fact in it may be newer."""

from __future__ import annotations

import datetime

from rocm3d.model.base import Record


class Release(Record):
    """knowledge/release.toml."""

    date: datetime.date
