"""What compiling needs on this machine: a HIP compiler, a torch that matches the stack, and include folders."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rocm3d.model.errors import MachineError
from rocm3d.model.toolchain import WheelToolchain
from rocm3d.toolchain import own_headers, prepared, torch_kit
from rocm3d.toolchain.compiler import Compiler
from rocm3d.toolchain.finder import find_compiler, newest_recipe
from rocm3d.toolchain.torch_kit import TorchKit
from rocm3d.workspace.sandbox import interpreter_paths

_FP16 = "hip/hip_fp16.h"


@dataclass(frozen=True)
class CompileKit:
    """`digest` covers the content of the folders in `roots`, so that a cache need not hash their files."""

    compiler: Compiler
    torch: TorchKit
    hip_headers: Path | None
    digest: str
    roots: tuple[Path, ...]

    @property
    def search(self) -> tuple[str, ...]:
        """Include flags: torch, --hip-headers, completed headers, and last the declared headers."""
        first = [self.hip_headers] if self.hip_headers else []
        has_fp16 = self.hip_headers is not None and (self.hip_headers / _FP16).is_file()
        if self.compiler.about.headers == "mixed" and not has_fp16:
            first.append(own_headers.COMPLETED)
        return (*(f"-I{folder}" for folder in (*self.torch.search, *first)), "-isystem", str(own_headers.DECLARED))

    @property
    def paths(self) -> tuple[Path, ...]:
        """Files and folders that a sandbox must show."""
        return (*self.compiler.paths, *self.torch.paths, *self.roots, *interpreter_paths(self.torch.hipify.interpreter))

    @property
    def label(self) -> str:
        """Compiler, HIP, torch and headers as one text, for verdicts."""
        about = self.compiler.about
        torch = f"torch {self.torch.version} (hipify {self.torch.generation})"
        hip_headers = ", ROCm library headers from --hip-headers" if self.hip_headers else ""
        return f"{about.title}, HIP {about.hip} {about.headers} headers, {torch}{hip_headers}"


def find_kit(
    recipes: Mapping[str, WheelToolchain], generation: int | None, hip_headers: Path | None, interpreter: Path | None
) -> CompileKit:
    """Raises MachineError if a part is missing. `generation`: that of the stack's hipify; None for the newest."""
    compiler = find_compiler(recipes)
    torch = _find_torch(newest_recipe(recipes), generation, interpreter)
    roots = tuple(root for root in (_rocm_root(compiler), torch.root, hip_headers) if root is not None)
    parts = (compiler.about.model_dump_json(), *compiler.command, own_headers.digest(), _folder_digest(hip_headers))
    digest = hashlib.sha256("\0".join((*parts, str(torch))).encode()).hexdigest()
    return CompileKit(compiler, torch, hip_headers, digest, (*roots, own_headers.FOLDER))


def _find_torch(recipe: WheelToolchain, generation: int | None, interpreter: Path | None) -> TorchKit:
    if interpreter is not None:
        kit = torch_kit.kit_from_interpreter(interpreter)
        if generation not in (None, kit.generation):
            raise MachineError(
                f"the stack's torch has hipify generation {generation}, but the torch of {interpreter} has generation "
                f"{kit.generation}. Code that builds with one may fail with the other"
            )
        return kit
    if prepared.find(recipe).lacks:
        raise MachineError("no headers of torch found. Run rocm3d toolchain prepare, or pass --python path/to/python")
    matching = [part for part in recipe.torches if generation in (None, part.hipify)]
    if not matching:
        raise MachineError(
            f"no torch with hipify generation {generation} found, which the stack needs. Pass --python PATH"
        )
    return torch_kit.kit_from_wheel(recipe, matching[0])


def _rocm_root(compiler: Compiler) -> Path | None:
    word = next((word for word in compiler.command if word.startswith("--rocm-path=")), None)
    return None if word is None else Path(word.partition("=")[2])


def _folder_digest(folder: Path | None) -> str:
    """A digest of names, sizes and times of all files in a folder of headers."""
    if folder is None:
        return ""
    digest = hashlib.sha256()
    for path in sorted(item for item in folder.rglob("*") if item.is_file()):
        status = path.stat()
        digest.update(f"{path.relative_to(folder)}:{status.st_size}:{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
