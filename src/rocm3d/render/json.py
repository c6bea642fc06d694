"""The document itself: what the next stage or another program reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.base import Document


def render(document: Document) -> str:
    """Stable JSON text."""
    return document.to_json()
