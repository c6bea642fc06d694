"""Lists the extensions that a build script declares: runs it on a copy, with stubs for torch and setuptools."""

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
    """The machine that the stubs simulate. With `cuda` set, torch is a CUDA build, otherwise a ROCm build."""

    torch: str
    hip: str
    gfx: str
    wave: int
    cuda: str = ""
    pretends_cuda_home: bool = False


@dataclass(frozen=True)
class Answer:
    """`error`: the exception that ended the script at `line`; not conclusive if the stubs may have caused it."""

    extensions: tuple[Declared, ...]
    error: str = ""
    line: int = 0
    known: bool = True

    @property
    def has_device_code(self) -> bool:
        """Whether any source holds device code."""
        return any(extension.device_sources for extension in self.extensions)


def read_script(tree: Path, script: str, machine: Machine, interpreter: Path | None = None) -> Answer:
    """Runs the script. `tree` is a copy of the repository; `script` is a path in it."""
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
        why = f"was stopped at the {_SECONDS:.0f} s limit" if ended.timed_out else "printed no result"
        return Answer((), f"{script} {why}", 1, known=False)
    root = posixpath.dirname(script)
    extensions = tuple(_declared(item, tree, script, root) for item in answer["extensions"] if item["kind"] == "cuda")
    error = str(answer.get("error", ""))
    return Answer(extensions, error, int(answer.get("line", 0)), known=not _is_ours(error))


def _is_ours(error: str) -> bool:
    """Whether stubs or missing modules caused the error, and not a decision of the script."""
    return error.startswith(("AttributeError", "ImportError", "ModuleNotFoundError", "TypeError"))


def _environment(tree: Path, machine: Machine) -> Mapping[str, str]:
    """Minimal, so that the result does not depend on the user's environment."""
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
    """Relative to the repository; absolute if the path is outside."""
    place = Path(posixpath.normpath(str(tree / root / path)))
    return place.relative_to(tree).as_posix() if place.is_relative_to(tree) else place.as_posix()
