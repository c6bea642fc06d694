"""Registry of console forms: for each kind of document its lines and its summary."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rocm3d.model.base import Document


@singledispatch
def document_lines(document: Document) -> Iterable[RenderableType]:
    """The content of the document."""
    raise TypeError(f"no console form for {type(document).__name__}")


@singledispatch
def summary_lines(document: Document) -> Iterable[RenderableType]:
    """Counts and outcome."""
    raise TypeError(f"no console summary for {type(document).__name__}")
