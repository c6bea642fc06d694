"""The import table: packages import only from lower layers, and nothing imports torch."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "rocm3d"

# Lowest layer first; a package may import from earlier rows of this list, and from itself.
LAYERS = [
    {"model"},
    {"knowledge", "workspace"},
    {"syntax", "manifest", "toolchain", "record", "artifact"},
    {"scan", "plan", "apply", "verify", "host", "jobs"},
    {"evidence", "render", "skill", "viewer"},
    {"dependency_patches"},
    {"repository", "workload"},
    {"pipeline"},
    {"mcp"},
    {"cli"},
    {"__main__"},
]
LAYER_OF_PACKAGE = {top_package: floor for floor, packages in enumerate(LAYERS) for top_package in packages}

MODULES = sorted(SOURCE.rglob("*.py"))


@cache
def imported_names(path: Path) -> frozenset[str]:
    """All names that a file imports, at any position."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def package_name(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def test_every_package_is_in_the_table():
    packages = {package_name(path) for path in MODULES} - {"__init__", "payload"}

    assert packages <= set(LAYER_OF_PACKAGE)


def may_import(importer: str, imported: str) -> bool:
    """Whether the table allows it. __init__.py and payload/, which runs in the user's environment, import none."""
    return (
        importer in LAYER_OF_PACKAGE
        and imported in LAYER_OF_PACKAGE
        and (importer == imported or LAYER_OF_PACKAGE[imported] < LAYER_OF_PACKAGE[importer])
    )


def forbidden_imports(path: Path) -> list[str]:
    """Imports of a module that the table does not allow."""
    parts = ((name, name.split(".")) for name in sorted(imported_names(path)))
    imported_packages = ((name, words[1]) for name, words in parts if words[0] == "rocm3d" and len(words) > 1)
    return [
        f"{path.relative_to(SOURCE)} may not import {name}"
        for name, target in imported_packages
        if target in (*LAYER_OF_PACKAGE, "payload") and not may_import(package_name(path), target)
    ]


def test_the_table_forbids_siblings_higher_floors_and_payload():
    assert may_import("scan", "scan")
    assert may_import("scan", "syntax")
    assert not may_import("scan", "plan")
    assert not may_import("syntax", "scan")
    assert not may_import("cli", "payload")
    assert not may_import("payload", "model")
    assert not may_import("__init__", "model")


def test_imports_go_downward_only():
    assert [] == [problem for path in MODULES for problem in forbidden_imports(path)]


def test_the_toolkit_never_imports_torch_or_triton():
    torch_imports = {
        (str(path.relative_to(SOURCE)), name)
        for path in MODULES
        if package_name(path) != "payload"
        for name in imported_names(path)
        if name.split(".")[0] in {"torch", "torchvision", "triton"}
    }

    assert set() == torch_imports


def test_plan_uses_no_file_and_no_process():
    for path in (SOURCE / "plan").rglob("*.py"):
        names = imported_names(path)
        assert not {name for name in names if name.startswith(("rocm3d.workspace", "subprocess", "os", "shutil"))}, path
        assert "pathlib.Path" not in names, path


def test_only_workspace_process_starts_programs():
    starters = {path for path in MODULES if any(name.split(".")[0] == "subprocess" for name in imported_names(path))}

    assert starters == {SOURCE / "workspace" / "process.py"}


def test_only_apply_and_repository_use_the_writer():
    users = {
        package_name(path)
        for path in MODULES
        if any(name.startswith("rocm3d.workspace.writer") for name in imported_names(path))
    }

    assert users == {"apply", "repository"}
