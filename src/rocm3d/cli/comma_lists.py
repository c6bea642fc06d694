"""Parses options that accept several values, repeated or separated by commas."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def split_commas(values: Iterable[str]) -> tuple[str, ...]:
    """All values in order. Empty ones stay, so that they are reported as unknown."""
    return tuple(part.strip() for value in values for part in value.split(","))
