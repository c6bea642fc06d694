"""Enables the drop-ins when an interpreter starts with ROCM3D_DROPIN, after running the sitecustomize it shadows.

Two such folders may be on PYTHONPATH, in any order, each running the other's file: no file runs twice.
"""

from __future__ import annotations

import os
import sys
import traceback
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

OWN_FOLDER = Path(__file__).resolve().parent


def run_shadowed(ran: list[Path]) -> None:
    """Runs the next sitecustomize.py on sys.path, as Python would without ours. Its exceptions propagate."""
    folders = [Path(entry or ".").resolve() for entry in sys.path]
    after = folders.index(OWN_FOLDER) + 1 if OWN_FOLDER in folders else 0
    remaining = [entry for entry, folder in zip(sys.path[after:], folders[after:], strict=True) if folder not in ran]
    spec = PathFinder.find_spec("sitecustomize", remaining)
    if spec is not None and spec.loader is not None and spec.origin is not None:
        ran.append(Path(spec.origin).resolve().parent)
        spec.loader.exec_module(module_from_spec(spec))


def enable_dropins() -> None:
    """Enables the drop-ins. On an error the program continues, without the drop-ins."""
    if os.environ.get("ROCM3D_DROPIN", "0") in ("", "0"):
        return
    try:
        from rocm3d_kernels.dropin.finder import install_from_environment  # noqa: PLC0415

        install_from_environment()
    except Exception:  # noqa: BLE001
        sys.stderr.write(f"rocm3d-kernels: the drop-ins could not be enabled\n{traceback.format_exc()}")


_ran = sys.__dict__.setdefault("_rocm3d_kernels_startup", [])
_is_repeated = OWN_FOLDER in _ran
if not _is_repeated:
    _ran.append(OWN_FOLDER)
run_shadowed(_ran)
if not _is_repeated:
    enable_dropins()
