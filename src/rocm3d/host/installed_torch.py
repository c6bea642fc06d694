"""The torch that an interpreter has, as a stack to plan for: read from its files, never imported."""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from rocm3d.model.failure import MachineLacks, UserError
from rocm3d.model.source import Source
from rocm3d.model.stack import Stack
from rocm3d.workspace.process import run

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from rocm3d.model.target import Gpu
    from rocm3d.model.wish import Platform

# Isolated: neither the current folder nor the user's variables can put modules in the way.
_ASK = "import json, sys; print(json.dumps([list(sys.version_info[:2]), sys.path, sys.prefix]))"


@dataclass(frozen=True)
class Answer:
    """What an interpreter says of itself."""

    version: str
    folders: tuple[Path, ...]
    prefix: Path


@dataclass(frozen=True)
class InstalledTorch:
    """What torch/version.py says, and the interpreter's version."""

    version: str
    hip: str | None
    python: str
    cuda: str | None = None
    folder: Path | None = field(default=None, compare=False)

    @property
    def rocm(self) -> str:
        """By the local version (+rocm7.2.1) where there is one; after its second part HIP's own counts builds."""
        local = re.search(r"rocm(\d+(?:\.\d+)+)", self.version)
        return local.group(1) if local else ".".join((self.hip or "").split(".")[:2])


def find_interpreter(root: Path, asked: Path | None) -> Path:
    """The one asked for, the repository's own, or the active virtual environment's: never rocm3d's."""
    own = Path(sys.prefix).resolve()
    places = [root / ".venv", Path(os.environ.get("VIRTUAL_ENV") or own)]
    candidates = [asked] if asked else [place / "bin" / "python" for place in places if place.resolve() != own]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    if asked:
        raise UserError(f"--python {asked}: no such interpreter")
    raise MachineLacks("no interpreter to read torch from", hint="name the one that has it with --python")


def ask(interpreter: Path) -> Answer:
    """Its version, where it looks for modules, and its environment's folder."""
    ended = run([str(interpreter), "-I", "-c", _ASK])
    try:
        version, folders, prefix = json.loads(ended.stdout)
    except ValueError as error:
        raise MachineLacks(
            f"{interpreter} does not run: {ended.stderr.decode(errors='replace').strip()[-200:]}"
        ) from error
    return Answer(".".join(map(str, version)), tuple(map(Path, folders)), Path(prefix))


def read_torch(interpreter: Path) -> InstalledTorch:
    """The version file of the torch that this interpreter would import."""
    found = torch_of(ask(interpreter))
    if found is None:
        raise MachineLacks(f"{interpreter} has no torch", hint="name another interpreter with --python")
    return found


def torch_of(answer: Answer) -> InstalledTorch | None:
    """The torch in the folders of an interpreter, None where there is none."""
    for folder in answer.folders:
        place = folder / "torch" / "version.py"
        if place.is_file():
            names = _assigned(place.read_text(encoding="utf-8", errors="replace"))
            version = names.get("__version__") or ""
            return InstalledTorch(version, names.get("hip"), answer.version, names.get("cuda"), place.parent)
    return None


def _assigned(text: str) -> dict[str, str | None]:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[str, str | None] = {}
    for node in body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = getattr(node, "value", None)
        if isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, str)):
            found |= {target.id: value.value for target in targets if isinstance(target, ast.Name)}
    return found


def as_stack(torch: InstalledTorch, gpu: Gpu, platform: Platform, today: date, known: Iterable[Stack]) -> Stack:
    """A base that is there already. Whether it has code for the GPU is not known before it runs."""
    if torch.hip is None:
        raise UserError(
            f"the installed torch {torch.version or '(unknown version)'} is no ROCm build: there is nothing to keep",
            hint="leave --keep-torch out, or name the interpreter that has one with --python",
        )
    try:
        release = Version(torch.version)
    except InvalidVersion as error:
        raise UserError(f"the installed torch calls itself {torch.version!r}, which is no version") from error
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
