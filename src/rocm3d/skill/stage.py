"""Writes the files of the skill: SKILL.md, references that an agent loads on demand, and evals."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rocm3d.model.errors import UserError
from rocm3d.skill.pages import render_template

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.method import Method


def skill_files(knowledge: Knowledge, commands: Mapping[str, str]) -> dict[str, str]:
    """All files of the skill, path to text. `commands` maps command names to help texts."""
    method = knowledge.method
    if method is None:
        raise UserError("the knowledge base has no method.toml", hint="reinstall rocm3d")
    files = {"SKILL.md": render_template("SKILL.md", method=method, knowledge=knowledge, commands=commands)}
    for family in knowledge.families.values():
        files[f"references/{family.id}.md"] = render_template("reference.md", family=family, knowledge=knowledge)
    files["references/gpus-and-stacks.md"] = render_template("gpus.md", knowledge=knowledge)
    files["references/advice.md"] = render_template("advice-list.md", knowledge=knowledge)
    files["references/commands.md"] = render_template("commands.md", commands=commands)
    files["evals/evals.json"] = _evals(method)
    return files


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
