"""What a rendering tells besides its images; parts that few ask for are made when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Meta(dict[str, Any]):
    """A dictionary whose values may be functions without arguments until they are looked at."""

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if callable(value):
            value = value()
            self[key] = value
        return value

    def __iter__(self) -> Iterator[str]:
        # Of its own, so that dict(meta) and {**meta} look at values, too, instead of copying what is stored.
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        """As a dictionary's."""
        try:
            return self[key]
        except KeyError:
            return default

    def items(self) -> Any:
        """As a dictionary's."""
        self._settle()
        return super().items()

    def values(self) -> Any:
        """As a dictionary's."""
        self._settle()
        return super().values()

    def _settle(self) -> None:
        for key in self:
            self[key]
