"""Renders records as Markdown pages for the skill and the documentation."""

from __future__ import annotations

import shlex
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge

PAGE_KINDS = (
    "codes", "packages", "targets", "stacks", "families", "recipes", "advice", "variables", "ports", "cards", "host",
)  # fmt: skip


@cache
def _environment() -> Environment:
    # No HTML escaping: the output is Markdown from our own records, and the filter `cell` escapes pipes.
    environment = Environment(  # noqa: S701
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = lambda text: " ".join(str(text).split()).replace("|", "\\|")
    environment.filters["shell"] = shlex.join
    return environment


def render_template(template: str, **variables: Any) -> str:
    return _environment().get_template(template).render(**variables)


def record_page(kind: str, name: str, knowledge: Knowledge) -> str:
    return render_template(f"{kind}.md", record=getattr(knowledge, kind)[name], knowledge=knowledge)
