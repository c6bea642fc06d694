"""The user's Python: its torch and its distributions, read from files. Nothing is imported."""

from __future__ import annotations

import re
from importlib.metadata import distributions
from typing import TYPE_CHECKING

from rocm3d.host.installed_torch import torch_of
from rocm3d.model.snapshot import InstalledDistribution, Interpreter

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.host.installed_torch import Answer

_RUNTIME = "libhsa-runtime64.so*"


def read_interpreter(interpreter: Path, answer: Answer) -> Interpreter:
    """Facts about an interpreter; strings are cut to a maximum length because their source is not trusted."""
    torch = torch_of(answer)
    found = {}
    for item in distributions(path=[str(folder) for folder in answer.folders if folder.is_dir()]):
        name = item.metadata["Name"] or ""
        if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", name) and name not in found:
            found[name] = InstalledDistribution(name=name, version=(item.version or "")[:128])
    return Interpreter(
        path=str(interpreter)[:4096],
        version=answer.version[:32],
        torch=torch.version[:128] if torch else "",
        hip=(torch.hip or "")[:128] if torch else "",
        cuda=(torch.cuda or "")[:128] if torch else "",
        own_runtime=bool(torch and torch.folder and any((torch.folder / "lib").glob(_RUNTIME))),
        distributions=tuple(found[name] for name in sorted(found, key=str.lower)),
    )
