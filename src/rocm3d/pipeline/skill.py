"""The agent skill, written into a folder that is new or our own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.failure import UserError
from rocm3d.skill.stage import skill
from rocm3d.workspace.documents import Documents


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


def _is_skill(folder: Path, knowledge: Knowledge) -> bool:
    name = knowledge.method.name if knowledge.method else ""
    page = folder / "SKILL.md"
    return page.is_file() and page.read_bytes().startswith(f"---\nname: {name}\n".encode())
