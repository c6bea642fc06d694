"""Renders the port's files from templates; each value is quoted for the target language."""

from __future__ import annotations

import json
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from rocm3d.model.text import one_line

__all__ = ["docker_value", "one_line", "render"]


def docker_value(text: str) -> str:
    """A quoted value for a Dockerfile's ENV, which interprets double quotes, backslashes and dollar signs."""
    return '"' + re.sub(r'([\\"$])', r"\\\1", one_line(text)) + '"'


@cache
def _environment() -> Environment:
    # No autoescape: the templates are shell, Dockerfile, YAML and Markdown, not HTML.
    environment = Environment(  # noqa: S701
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        comment_start_string="{//",  # Jinja's default `{#` is bash's array length
        comment_end_string="//}",
    )
    environment.filters |= {
        "shell": shlex.quote,
        "words": shlex.join,
        "line": one_line,
        "slug": lambda text: re.sub(r"[^\w.-]+", "-", text),
        "docker": docker_value,
        "json": json.dumps,
        # Compose reads a dollar sign as the start of a variable.
        "yaml": lambda text: json.dumps(text).replace("$", "$$"),
    }
    return environment


def render(template: str, **values: Any) -> bytes:
    return _environment().get_template(template).render(**values).encode()
