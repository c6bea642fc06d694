"""Further results of a rendering, computed on first access."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class LazyMeta(dict[str, Any]):
    """A dict whose values may be functions without arguments; the first access replaces one by its result."""

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if callable(value):
            value = value()
            self[key] = value
        return value

    def __iter__(self) -> Iterator[str]:
        # Overridden so that dict(meta) and {**meta} use __getitem__ instead of copying the stored functions.
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def items(self) -> Any:
        self._evaluate_all()
        return super().items()

    def values(self) -> Any:
        self._evaluate_all()
        return super().values()

    def _evaluate_all(self) -> None:
        for key in self:
            self[key]
