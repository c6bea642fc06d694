"""Writes the agent skill into a new folder or over an earlier one, and checks an existing skill."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.errors import UserError
from rocm3d.skill.check import skill_problems
from rocm3d.skill.stage import skill_files
from rocm3d.workspace.documents import Documents

_MAX_FILE_BYTES = 4 * 1024 * 1024


def write_skill(folder: Path, knowledge: Knowledge, commands: Mapping[str, str]) -> list[str]:
    """Write the agent skill into a new folder, or over an earlier one. Returns other files in the folder.

    Those are not deleted: they may belong to an older skill or to the user.
    """
    files = skill_files(knowledge, commands)
    existing = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    if existing and not _is_skill(folder, knowledge):
        raise UserError(f"{folder} exists and is not a skill of rocm3d", hint="choose a new folder")
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        Documents(file.parent).write_text(file, text)
    return sorted(set(existing) - set(files))


def check_skill(folder: Path, commands: Mapping[str, str]) -> list[str]:
    """Problems of the skill in a folder, checked against these commands (name to help text)."""
    if not (folder / "SKILL.md").is_file():
        raise UserError(f"{folder} has no SKILL.md", hint="pass the folder of a skill")
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in (".md", ".json") and path.stat().st_size < _MAX_FILE_BYTES:
            files[path.relative_to(folder).as_posix()] = path.read_text(encoding="utf-8", errors="replace")
    return skill_problems(files, commands)


def _is_skill(folder: Path, knowledge: Knowledge) -> bool:
    name = knowledge.method.name if knowledge.method else ""
    page = folder / "SKILL.md"
    return page.is_file() and page.read_bytes().startswith(f"---\nname: {name}\n".encode())
