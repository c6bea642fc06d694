"""The installed torch as a stack for the plan: read from its files, never imported."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from packaging.version import InvalidVersion, Version

from rocm3d.model.errors import MachineError, UserError
from rocm3d.model.plan_choices import Platform
from rocm3d.model.source import Source
from rocm3d.model.stack import Stack
from rocm3d.model.target import Gpu
from rocm3d.workspace.process import run

# Run with -I, so that neither the current folder nor the user's variables can shadow modules.
_INFO_PROGRAM = "import json, sys; print(json.dumps([list(sys.version_info[:2]), sys.path, sys.prefix]))"


@dataclass(frozen=True)
class InterpreterInfo:
    """Python version (3.12), import folders (sys.path) and sys.prefix of an interpreter."""

    version: str
    folders: tuple[Path, ...]
    prefix: Path


@dataclass(frozen=True)
class InstalledTorch:
    """Versions from torch/version.py, and the Python version (3.12)."""

    version: str
    hip: str | None
    python: str
    cuda: str | None = None
    folder: Path | None = field(default=None, compare=False)

    @property
    def rocm(self) -> str:
        """ROCm release from the local version (+rocm7.2.1), else the first two parts of the HIP version."""
        local = re.search(r"rocm(\d+(?:\.\d+)+)", self.version)
        return local.group(1) if local else ".".join((self.hip or "").split(".")[:2])


def query_interpreter(interpreter: Path) -> InterpreterInfo:
    """Run the interpreter once. Raises a machine error if it does not run."""
    ended = run([str(interpreter), "-I", "-c", _INFO_PROGRAM])
    try:
        version, folders, prefix = json.loads(ended.stdout)
    except ValueError as error:
        raise MachineError(
            f"{interpreter} does not run: {ended.stderr.decode(errors='replace').strip()[-200:]}"
        ) from error
    return InterpreterInfo(".".join(map(str, version)), tuple(map(Path, folders)), Path(prefix))


def read_torch(interpreter: Path) -> InstalledTorch:
    """The torch that this interpreter would import. Raises a machine error if it has none."""
    torch = find_torch(query_interpreter(interpreter))
    if torch is None:
        raise MachineError(f"{interpreter} has no torch", hint="pass another interpreter with --python")
    return torch


def find_torch(info: InterpreterInfo) -> InstalledTorch | None:
    """The first torch in the import folders of an interpreter; None if it has none."""
    for folder in info.folders:
        version_file = folder / "torch" / "version.py"
        if version_file.is_file():
            names = _assigned_constants(version_file.read_text(encoding="utf-8", errors="replace"))
            version = names.get("__version__") or ""
            return InstalledTorch(version, names.get("hip"), info.version, names.get("cuda"), version_file.parent)
    return None


def _assigned_constants(text: str) -> dict[str, str | None]:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return {}
    constants: dict[str, str | None] = {}
    for node in body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = getattr(node, "value", None)
        if isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, str)):
            constants |= {target.id: value.value for target in targets if isinstance(target, ast.Name)}
    return constants


def installed_stack(torch: InstalledTorch, gpu: Gpu, platform: Platform, today: date, known: Iterable[Stack]) -> Stack:
    """A stack for the installed torch. Whether it has code for the GPU is unknown until it runs."""
    if torch.hip is None:
        raise UserError(
            f"cannot keep the installed torch {torch.version or '(unknown version)'}: it is not a ROCm build",
            hint="omit --keep-torch, or pass an interpreter that has a ROCm build with --python",
        )
    try:
        release = Version(torch.version)
    except InvalidVersion as error:
        raise UserError(f"the installed torch has an invalid version: {torch.version!r}") from error
    older = [stack for stack in known if Version(stack.torch) <= release]
    nearest = max(older, key=lambda stack: (Version(stack.torch), stack.id), default=None)
    return Stack(
        id="installed",
        title=f"the installed torch {torch.version}",
        platforms=(platform,),
        form="system",
        rocm=torch.rocm,
        torch=release.base_version,
        python=torch.python,
        hipify=nearest.hipify if nearest else 1,
        gfx=(gpu.gfx,),
        released=today,
        checked=today,
        confidence="reported",
        sources=(Source(where="torch/version.py of the interpreter", says=f"torch {torch.version}, HIP {torch.hip}"),),
    )
