"""A mapping that is loaded on first use. A scan needs only a few kinds of records."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from functools import cached_property
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LazyMapping(Mapping[K, V]):
    """A dictionary that `read` fills on first use. It is pickled as a plain dictionary."""

    def __init__(self, read: Callable[[], dict[K, V]]) -> None:
        self._read = read

    @cached_property
    def _loaded(self) -> dict[K, V]:
        return self._read()

    def __getitem__(self, key: K) -> V:
        return self._loaded[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)

    def __contains__(self, key: object) -> bool:
        return key in self._loaded

    def __repr__(self) -> str:
        return repr(self._loaded)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._loaded,)

    # The views of the dictionary are faster: those of Mapping do a lookup for every value.
    def keys(self) -> KeysView[K]:
        """The keys, in order."""
        return self._loaded.keys()

    def values(self) -> ValuesView[V]:
        """The records, in order."""
        return self._loaded.values()

    def items(self) -> ItemsView[K, V]:
        """Keys and records, in order."""
        return self._loaded.items()
