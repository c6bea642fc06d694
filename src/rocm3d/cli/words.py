"""Options that take several words: said again and again, or once with commas between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def parted(values: Iterable[str]) -> tuple[str, ...]:
    """Every word, in order; an empty one stays, to be refused as such."""
    return tuple(word.strip() for value in values for word in value.split(","))
