"""Writes the files of the skill: SKILL.md, references that an agent loads on demand, and evals. Pages of records."""

from __future__ import annotations

import json
import shlex
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.method import Method

PAGE_KINDS = (
    "codes", "packages", "targets", "stacks", "families", "recipes", "advice", "variables", "ports", "cards", "host",
)  # fmt: skip


def skill_files(knowledge: Knowledge, commands: Mapping[str, str]) -> dict[str, str]:
    """All files of the skill, path to text. `commands` maps command names to help texts."""
    method = knowledge.method
    if method is None:
        raise UserError("the knowledge base has no method.toml", hint="reinstall rocm3d")
    return {
        "SKILL.md": render_template("SKILL.md", method=method, knowledge=knowledge, commands=commands),
        **{
            f"references/{family.id}.md": render_template("reference.md", family=family, knowledge=knowledge)
            for family in knowledge.families.values()
        },
        "references/gpus-and-stacks.md": render_template("gpus.md", knowledge=knowledge),
        "references/advice.md": render_template("advice-list.md", knowledge=knowledge),
        "references/commands.md": render_template("commands.md", commands=commands),
        "evals/evals.json": _evals(method),
    }


def _evals(method: Method) -> str:
    """The format of public skill catalogues: prompts that should or should not trigger, and behaviours to grade."""
    cases = [
        {
            "id": case.id,
            "prompt": case.prompt,
            "should_trigger": case.should_trigger,
            "expected_behavior": list(case.behaviours),
        }
        for case in method.evals
    ]
    return json.dumps({"skill_name": method.name, "evals": cases}, indent=2) + "\n"


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
