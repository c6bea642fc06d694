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

HERE = Path(__file__).resolve().parent


def start_shadowed(ran: list[Path]) -> None:
    """Runs the next sitecustomize.py on sys.path, as Python would without ours. Its exceptions propagate."""
    places = [Path(entry or ".").resolve() for entry in sys.path]
    after = places.index(HERE) + 1 if HERE in places else 0
    elsewhere = [entry for entry, place in zip(sys.path[after:], places[after:], strict=True) if place not in ran]
    spec = PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None and spec.origin is not None:
        ran.append(Path(spec.origin).resolve().parent)
        spec.loader.exec_module(module_from_spec(spec))


def start() -> None:
    """Enables the drop-ins. On an error the program continues, without the drop-ins."""
    if os.environ.get("ROCM3D_DROPIN", "0") in ("", "0"):
        return
    try:
        from rocm3d_kernels.dropin.finder import switched  # noqa: PLC0415

        switched()
    except Exception:  # noqa: BLE001
        sys.stderr.write(f"rocm3d-kernels: the drop-ins could not be enabled\n{traceback.format_exc()}")


_ran = sys.__dict__.setdefault("_rocm3d_kernels_startup", [])
_again = HERE in _ran
if not _again:
    _ran.append(HERE)
start_shadowed(_ran)
if not _again:
    start()
