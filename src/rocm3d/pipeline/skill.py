"""The agent skill, written into a folder that is new or our own, and checked where one lies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.failure import UserError
from rocm3d.skill.check import problems
from rocm3d.skill.stage import skill
from rocm3d.workspace.documents import Documents

_LIMIT = 4 * 1024 * 1024


def write_skill(folder: Path, knowledge: Knowledge, commands: Mapping[str, str]) -> list[str]:
    """Write the agent skill into a new folder, or over an earlier one of ours; the paths that are not of this skill.

    Those stay: they may be an older skill's, or somebody's own.
    """
    files = skill(knowledge, commands)
    there = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    if there and not _is_skill(folder, knowledge):
        raise UserError(f"{folder} is there already and not a skill of rocm3d", hint="name a new folder")
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        Documents(place.parent).write_text(place, text)
    return sorted(set(there) - set(files))


def check_skill(folder: Path, commands: Mapping[str, str]) -> list[str]:
    """What is wrong with the skill that lies in a folder, held against these commands."""
    if not (folder / "SKILL.md").is_file():
        raise UserError(f"{folder} has no SKILL.md", hint="name the folder of a skill")
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in (".md", ".json") and path.stat().st_size < _LIMIT:
            files[path.relative_to(folder).as_posix()] = path.read_text(encoding="utf-8", errors="replace")
    return problems(files, commands)


def _is_skill(folder: Path, knowledge: Knowledge) -> bool:
    name = knowledge.method.name if knowledge.method else ""
    page = folder / "SKILL.md"
    return page.is_file() and page.read_bytes().startswith(f"---\nname: {name}\n".encode())
