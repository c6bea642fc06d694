"""The import table of the house: imports go downward, siblings do not know each other, torch stays outside."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "rocm3d"

# Lower rooms first; a room may import from rows above its own in this list, and from itself.
FLOORS = [
    {"model"},
    {"knowledge", "workspace"},
    {"syntax", "manifest", "toolchain", "record", "artifact"},
    {"scan", "plan", "apply", "verify", "host", "jobs"},
    {"evidence", "render", "skill", "viewer"},
    {"recall"},
    {"repository", "workload"},
    {"pipeline"},
    {"mcp"},
    {"cli"},
]
# payload/ runs in the target's environment and is imported by nobody.
ROOMS = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

MODULES = sorted(SOURCE.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Every module name that a file imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def test_every_room_is_in_the_table():
    rooms = {room(path) for path in MODULES} - {"__init__", "payload"}

    assert rooms <= set(ROOMS)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_downward_only(path):
    here = room(path)
    if here == "__init__":
        assert not {name for name in imported(path) if name.startswith("rocm3d.")}
        return
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "rocm3d" or len(parts) < 2 or parts[1] not in (*ROOMS, "payload"):
            continue
        assert parts[1] != "payload", f"{name}: payload runs elsewhere and is imported by nobody"
        assert parts[1] == here or ROOMS[parts[1]] < ROOMS[here], f"{here} may not import {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_toolkit_never_imports_torch_or_triton(path):
    if room(path) == "payload":
        return
    tops = {name.split(".")[0] for name in imported(path)}

    assert not tops & {"torch", "torchvision", "triton"}


def test_plan_touches_no_file_and_no_process():
    for path in (SOURCE / "plan").rglob("*.py"):
        names = imported(path)
        assert not {name for name in names if name.startswith(("rocm3d.workspace", "subprocess", "os", "shutil"))}, path
        assert "pathlib.Path" not in names, path


def test_only_workspace_process_starts_programs():
    starters = {path for path in MODULES if any(name.split(".")[0] == "subprocess" for name in imported(path))}

    assert starters == {SOURCE / "workspace" / "process.py"}


def test_only_apply_and_the_pipeline_know_the_writer():
    users = {
        room(path) for path in MODULES if any(name.startswith("rocm3d.workspace.writer") for name in imported(path))
    }

    assert users == {"apply", "pipeline"}
