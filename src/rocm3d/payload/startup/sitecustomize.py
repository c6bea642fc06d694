"""Starts the hooks in a workload's interpreter, after the sitecustomize that this file shadows.

Each hook_*.py in this folder is enabled by its own environment variable. An error in a hook must not stop the program.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).resolve().parent


def load(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def start_shadowed() -> None:
    """Run the sitecustomize of the environment, whose errors are not caught."""
    other_paths = [entry for entry in sys.path if Path(entry or ".").resolve() != FOLDER]
    spec = PathFinder.find_spec("sitecustomize", other_paths)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def start_hooks() -> None:
    """Start all hooks in order of their names."""
    for file in sorted(FOLDER.glob("hook_*.py")):
        try:
            load(f"rocm3d_{file.stem}", file).start()
        except Exception:  # noqa: BLE001  (an error in a hook must not stop the workload)
            sys.stderr.write(f"rocm3d: {file.name} did not start\n{traceback.format_exc()}")


start_shadowed()
start_hooks()
