"""Records what named modules of a torch program give: `rocm3d golden record`.

Wanted where ROCM3D_GOLDEN holds a JSON object: `folder`, `modules` (patterns), `calls` (how many of each), `seed`.
A line for each tensor goes to the file that ROCM3D_RECORD names.
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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rocm3d_hook_tools import after_import, tell

HERE = Path(__file__).resolve().parent


def start() -> None:
    """Wait for numpy and torch to be imported; import neither."""
    asked = os.environ.get("ROCM3D_GOLDEN")
    if not asked:
        return
    settings = json.loads(asked)
    seed = settings["seed"]
    if seed is not None:
        random.seed(seed)
        after_import("numpy", lambda numpy: numpy.random.seed(seed))
        after_import("torch", lambda torch: torch.manual_seed(seed))
    if settings["modules"]:
        after_import("torch", lambda torch: Recorder(settings).watch(torch))
    atexit.register(tell_environment)


def tell_environment() -> None:
    """What the program ran on, as far as it came."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "version"):
        return
    about = {"python": ".".join(map(str, sys.version_info[:3])), "torch": str(torch.__version__)}
    about |= {"hip": str(torch.version.hip or ""), "cuda": str(torch.version.cuda or "")}
    if torch.cuda.is_initialized():
        about["device"] = torch.cuda.get_device_name(0)
    tell(kind="environment", environment=about)


class Recorder:
    """Writes the outputs of modules whose class or place in the model fits a pattern."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.folder, self.patterns = Path(settings["folder"]), settings["modules"]
        self.left: Counter[str] = Counter()
        self.most, self.local = settings["calls"], threading.local()
        self.count = 0
        spec = importlib.util.spec_from_file_location("rocm3d_npy", HERE.parent / "npy.py")
        assert spec is not None
        assert spec.loader is not None
        self.npy = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.npy)

    def watch(self, torch: Any) -> None:
        """Hooks on every module of the program."""
        self.torch = torch
        module = torch.nn.modules.module
        module.register_module_forward_pre_hook(self.enter)
        try:
            module.register_module_forward_hook(self.leave, always_call=True)
        except TypeError:  # before torch had the keyword
            module.register_module_forward_hook(self.leave)

    def enter(self, module: Any, _: Any) -> None:
        """The outermost module that is called names all below it."""
        depth = getattr(self.local, "depth", 0)
        if depth == 0:
            root = type(module).__name__
            self.local.names = {id(part): f"{root}.{path}".rstrip(".") for path, part in module.named_modules()}
        self.local.depth = depth + 1

    def leave(self, module: Any, _: Any, output: Any) -> None:
        """Keep what was asked for; `output` is None where the module raised."""
        self.local.depth = max(0, getattr(self.local, "depth", 1) - 1)
        kind = type(module).__name__
        name = getattr(self.local, "names", {}).get(id(module), kind)
        fits = any(fnmatch.fnmatchcase(kind, one) or fnmatch.fnmatchcase(name, one) for one in self.patterns)
        if output is None or not fits or self.left[name] >= self.most:
            return
        call = self.left[name]
        self.left[name] += 1
        for part, tensor in self.tensors(output, ""):
            self.keep(f"{name}[{call}]{part}", tensor)

    def tensors(self, output: Any, part: str) -> Iterator[tuple[str, Any]]:
        """Every tensor of whatever a module returns, with where it stands in it."""
        if isinstance(output, self.torch.Tensor):
            yield part, output
        elif isinstance(output, dict):
            for key, value in output.items():
                yield from self.tensors(value, f"{part}.{key}")
        elif isinstance(output, (list, tuple)):
            for number, value in enumerate(output):
                yield from self.tensors(value, f"{part}.{number}")

    def keep(self, name: str, tensor: Any) -> None:
        """Write one tensor; a fault of ours is told, and the program goes on."""
        rank = os.environ.get("RANK")
        whole = f"rank{rank}/{name}" if rank else name
        self.count += 1
        file = self.folder / f"{os.getpid()}-{self.count:05}.npy"
        try:
            dtype = self.npy.write(file, tensor, self.torch)
        except Exception as error:  # noqa: BLE001
            tell(kind="left_out", name=whole, reason=f"{type(error).__name__}: {error}")
        else:
            tell(kind="tensor", name=whole, file=file.name, dtype=dtype)
