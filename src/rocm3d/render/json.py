"""Renders a document as JSON, for the next stage or another program."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.base import Document


def render(document: Document) -> str:
    """Deterministic: the same document gives the same bytes."""
    return document.to_json()
