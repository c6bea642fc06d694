"""Hook of `rocm3d golden record`: records the outputs of torch modules.

Enabled by ROCM3D_GOLDEN, a JSON object with `folder`, `modules` (patterns), `calls` (per module) and `seed`. Writes one
event per tensor to the file in ROCM3D_RECORD.
"""

from __future__ import annotations

import atexit
import fnmatch
import importlib.util
import json
import os
import random
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from rocm3d_hook_tools import after_import, report_event

FOLDER = Path(__file__).resolve().parent


def start() -> None:
    """Install callbacks for the import of numpy and torch; imports neither itself."""
    variable = os.environ.get("ROCM3D_GOLDEN")
    if not variable:
        return
    settings = json.loads(variable)
    seed = settings["seed"]
    if seed is not None:
        random.seed(seed)
        after_import("numpy", lambda numpy: numpy.random.seed(seed))
        after_import("torch", lambda torch: torch.manual_seed(seed))
    if settings["modules"]:
        after_import("torch", lambda torch: Recorder(settings).watch(torch))
    atexit.register(report_environment)


def report_environment() -> None:
    """Report versions and device, if torch was imported."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "version"):
        return
    about = {"python": ".".join(map(str, sys.version_info[:3])), "torch": str(torch.__version__)}
    about |= {"hip": str(torch.version.hip or ""), "cuda": str(torch.version.cuda or "")}
    if torch.cuda.is_initialized():
        about["device"] = torch.cuda.get_device_name(0)
    report_event(kind="environment", environment=about)


class Recorder:
    """Writes the outputs of modules whose class or path in the model matches a pattern."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.folder, self.patterns = Path(settings["folder"]), settings["modules"]
        self.calls: Counter[str] = Counter()
        self.max_calls, self.local = settings["calls"], threading.local()
        self.count = 0
        spec = importlib.util.spec_from_file_location("rocm3d_npy", FOLDER.parent / "npy.py")
        assert spec is not None
        assert spec.loader is not None
        self.npy = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.npy)

    def watch(self, torch: Any) -> None:
        """Install forward hooks on all modules."""
        self.torch = torch
        module = torch.nn.modules.module
        module.register_module_forward_pre_hook(self.enter)
        try:
            module.register_module_forward_hook(self.leave, always_call=True)
        except TypeError:  # before torch had the keyword
            module.register_module_forward_hook(self.leave)

    def enter(self, module: Any, _: Any) -> None:
        """Forward pre-hook. The outermost module names all its submodules."""
        depth = getattr(self.local, "depth", 0)
        if depth == 0:
            root = type(module).__name__
            self.local.names = {id(part): f"{root}.{path}".rstrip(".") for path, part in module.named_modules()}
        self.local.depth = depth + 1

    def leave(self, module: Any, _: Any, output: Any) -> None:
        """Forward hook: write matching outputs. `output` is None if the module raised."""
        self.local.depth = max(0, getattr(self.local, "depth", 1) - 1)
        kind = type(module).__name__
        name = getattr(self.local, "names", {}).get(id(module), kind)
        matches = any(
            fnmatch.fnmatchcase(kind, pattern) or fnmatch.fnmatchcase(name, pattern) for pattern in self.patterns
        )
        if output is None or not matches or self.calls[name] >= self.max_calls:
            return
        call = self.calls[name]
        self.calls[name] += 1
        for part, tensor in self.npy.tensors(output, "", self.torch, numbers=False):
            self.write(f"{name}[{call}]{part}", tensor)

    def write(self, name: str, tensor: Any) -> None:
        """Write one tensor. An error is reported as `left_out` and does not affect the program."""
        rank = os.environ.get("RANK")
        full_name = f"rank{rank}/{name}" if rank else name
        self.count += 1
        file = self.folder / f"{os.getpid()}-{self.count:05}.npy"
        try:
            dtype = self.npy.write(file, tensor, self.torch)
        except Exception as error:  # noqa: BLE001
            report_event(kind="left_out", name=full_name, reason=f"{type(error).__name__}: {error}")
        else:
            report_event(kind="tensor", name=full_name, file=file.name, dtype=dtype)
