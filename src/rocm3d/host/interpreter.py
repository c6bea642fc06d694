"""The user's Python: its torch and its distributions, read from files. Nothing is imported."""

from __future__ import annotations

import re
from importlib.metadata import distributions
from typing import TYPE_CHECKING

from rocm3d.host.installed_torch import find_torch
from rocm3d.model.snapshot import InstalledDistribution, Interpreter

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.host.installed_torch import InterpreterInfo

_HSA_RUNTIME = "libhsa-runtime64.so*"


def read_interpreter(interpreter: Path, info: InterpreterInfo) -> Interpreter:
    """Facts about an interpreter; strings are cut to a maximum length because their source is not trusted."""
    torch = find_torch(info)
    installed = {}
    for distribution in distributions(path=[str(folder) for folder in info.folders if folder.is_dir()]):
        name = distribution.metadata["Name"] or ""
        if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", name) and name not in installed:
            installed[name] = InstalledDistribution(name=name, version=(distribution.version or "")[:128])
    return Interpreter(
        path=str(interpreter)[:4096],
        version=info.version[:32],
        torch=torch.version[:128] if torch else "",
        hip=(torch.hip or "")[:128] if torch else "",
        cuda=(torch.cuda or "")[:128] if torch else "",
        own_runtime=bool(torch and torch.folder and any((torch.folder / "lib").glob(_HSA_RUNTIME))),
        distributions=tuple(installed[name] for name in sorted(installed, key=str.lower)),
    )
