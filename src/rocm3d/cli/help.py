"""Help texts of all commands, for the reference page and the agent skill."""

from __future__ import annotations

from typing import Any

import typer.main

WIDTH = 100


def help_texts(app: typer.Typer) -> dict[str, str]:
    """The output of `--help` by command, in the order of the top-level help."""
    return dict(_collect_help(typer.main.get_command(app), ["rocm3d"]))


def _collect_help(command: Any, path: list[str]) -> list[tuple[str, str]]:
    """`command` is Any, because typer bundles click without exporting its types."""
    context = command.make_context(path[-1], [], resilient_parsing=True)
    context.info_name, context.max_content_width, context.terminal_width = " ".join(path), WIDTH, WIDTH
    texts = [(" ".join(path), command.get_help(context).rstrip())]
    for name, inner in getattr(command, "commands", {}).items():
        texts += _collect_help(inner, [*path, name])
    return texts
