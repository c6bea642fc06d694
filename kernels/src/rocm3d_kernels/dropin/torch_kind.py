"""Which kind of torch is installed, read from its version file without importing torch."""

from __future__ import annotations

import ast
import sys
from importlib.machinery import PathFinder
from pathlib import Path


def kind() -> str:
    """`cuda`, `hip`, `cpu`, or `none`."""
    loaded = sys.modules.get("torch")
    version = getattr(loaded, "version", None)
    if version is not None and hasattr(version, "cuda"):
        return _kind(version.cuda, getattr(version, "hip", None))
    spec = PathFinder.find_spec("torch")
    if spec is None or spec.origin is None:
        return "none"
    constants = read_constants(Path(spec.origin).with_name("version.py"))
    return _kind(constants.get("cuda"), constants.get("hip"))


def read_constants(file: Path) -> dict[str, object]:
    """Assignments of constants; empty if the file cannot be read or parsed."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    constants: dict[str, object] = {}
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
            constants[target.id] = value.value
    return constants


def _kind(cuda: object, hip: object) -> str:
    return "hip" if hip else "cuda" if cuda else "cpu"
