"""The forms of documents on a terminal: lines that show one, and what to say beside it. Others register here."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rocm3d.model.base import Document


@singledispatch
def parts(document: Document) -> Iterable[RenderableType]:
    """The document itself."""
    raise TypeError(f"no console form for {type(document).__name__}")


@singledispatch
def closing(document: Document) -> Iterable[RenderableType]:
    """How much there is, and how it came out."""
    raise TypeError(f"no console summary for {type(document).__name__}")
