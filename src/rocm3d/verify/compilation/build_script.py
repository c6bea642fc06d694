"""What a build script would build on a given machine: run with stand-ins for torch and setuptools, on a copy."""

from __future__ import annotations

import json
import os
import posixpath
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocm3d.verify.compilation.declared import Declared
from rocm3d.workspace.process import run

if TYPE_CHECKING:
    from collections.abc import Mapping

SCRIPT = Path(__file__).parents[2] / "payload" / "read_build.py"
_SECONDS = 120.0
_TOOLKIT = "/usr/local/cuda"


@dataclass(frozen=True)
class Machine:
    """What the script is told about the machine. With `cuda` it has NVIDIA's torch, else AMD's."""

    torch: str
    hip: str
    gfx: str
    wave: int
    cuda: str = ""
    pretends_cuda_home: bool = False


@dataclass(frozen=True)
class Answer:
    """`error` says what ended the script, at `line`; `known` is False where the stand-ins were not enough."""

    extensions: tuple[Declared, ...]
    error: str = ""
    line: int = 0
    known: bool = True

    @property
    def has_device_code(self) -> bool:
        """Whether any source is for a GPU."""
        return any(extension.device_sources for extension in self.extensions)


def read_script(tree: Path, script: str, machine: Machine, interpreter: Path | None = None) -> Answer:
    """Run it; `tree` is a copy of the repository and `script` a path in it."""
    request = {
        "script": str(tree / script),
        "torch": machine.torch,
        "hip": machine.hip,
        "cuda": machine.cuda,
        "gfx": machine.gfx,
        "wave": machine.wave,
        "cuda_home": _TOOLKIT if machine.cuda or machine.pretends_cuda_home else "",
    }
    note = tree.with_name(f"{tree.name}.setup.json")
    note.write_text(json.dumps(request), encoding="utf-8")
    command = [str(interpreter or sys.executable), "-I", str(SCRIPT), str(note)]
    ended = run(command, env=_environment(tree, machine), seconds=_SECONDS, keep_bytes=4 * 1024 * 1024)
    note.unlink(missing_ok=True)
    try:
        answer: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        why = "did not end in time" if ended.timed_out else "gave no answer"
        return Answer((), f"{script} {why}", 1, known=False)
    root = posixpath.dirname(script)
    extensions = tuple(_declared(item, tree, script, root) for item in answer["extensions"] if item["kind"] == "cuda")
    error = str(answer.get("error", ""))
    return Answer(extensions, error, int(answer.get("line", 0)), known=not _is_ours(error))


def _is_ours(error: str) -> bool:
    """Whether it stopped because of the stand-ins or of modules that are not here, and not by its own decision."""
    return error.startswith(("AttributeError", "ImportError", "ModuleNotFoundError", "TypeError"))


def _environment(tree: Path, machine: Machine) -> Mapping[str, str]:
    """Little, so that the answer does not depend on who asks."""
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(tree.parent), "LANG": "C.UTF-8"}
    if machine.pretends_cuda_home:
        env["FORCE_CUDA"] = "1"
    return env


def _declared(item: dict[str, Any], tree: Path, script: str, root: str) -> Declared:
    def flags(words: list[str]) -> tuple[str, ...]:
        return tuple(word.replace(f"{tree}/", "") for word in words)

    defined = [f"-D{name}" if value is None else f"-D{name}={value}" for name, value in item["macros"]]
    return Declared(
        name=item["name"],
        script=script,
        line=item["line"],
        root=root,
        sources=tuple(dict.fromkeys(_inside(source, tree, root) for source in item["sources"])),
        include_dirs=tuple(_inside(folder, tree, root) for folder in item["include_dirs"]),
        macros=(*defined, *(f"-U{name}" for name in item["undefined"])),
        host_flags=flags(item["cxx"]),
        device_flags=flags(item["nvcc"]),
        jit=item["jit"],
    )


def _inside(path: str, tree: Path, root: str) -> str:
    """Relative to the repository; a path outside of it stays as it is."""
    place = Path(posixpath.normpath(str(tree / root / path)))
    return place.relative_to(tree).as_posix() if place.is_relative_to(tree) else place.as_posix()
