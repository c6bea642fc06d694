"""Starts our hooks in a workload's interpreter, after the sitecustomize that this one shadows.

Each hook_*.py beside it decides by a variable of its own whether it is wanted. None may stop the program.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent


def load(name: str, file: Path) -> ModuleType:
    """A module of ours by its path."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def start_shadowed() -> None:
    """Run the environment's own, as if we were not here; its faults are its own."""
    elsewhere = [entry for entry in sys.path if Path(entry or ".").resolve() != HERE]
    spec = PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def start_hooks() -> None:
    """Ours, one after the other."""
    for file in sorted(HERE.glob("hook_*.py")):
        try:
            load(f"rocm3d_{file.stem}", file).start()
        except Exception:  # noqa: BLE001  (the workload goes on, whatever ails us)
            sys.stderr.write(f"rocm3d: {file.name} did not start\n{traceback.format_exc()}")


start_shadowed()
start_hooks()
