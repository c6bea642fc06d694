"""This machine: its AMD GPU, backend checks on it, and compilers for AMD targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rocm3d.host.interpreter import find_interpreter
from rocm3d.host.kfd import gpus
from rocm3d.knowledge.base import Knowledge
from rocm3d.model.backend_check import Smoke
from rocm3d.model.errors import UserError
from rocm3d.model.target import Gpu
from rocm3d.model.toolchain import Toolchains
from rocm3d.toolchain import prepared
from rocm3d.toolchain.finder import newest_recipe, toolchains
from rocm3d.verify.backends.environment import SECONDS, Environment
from rocm3d.verify.backends.suites import run_suites, select_suites
from rocm3d.workspace.machine_name import machine_name


def resolve_gpu(name: str | None, knowledge: Knowledge) -> Gpu:
    """The GPU of that name; without a name, the AMD GPU of this machine."""
    if name is not None:
        return knowledge.gpu(name)
    local_gpus = sorted(set(gpus(integrated=knowledge.integrated_targets)))
    if len(local_gpus) == 1:
        return knowledge.gpu(local_gpus[0])
    if local_gpus:
        raise UserError(
            f"this machine has several kinds of AMD GPU: {', '.join(local_gpus)}", hint="choose one with --gpu"
        )
    raise UserError("no AMD GPU on this machine", hint="pass the GPU to plan for, for example --gpu mi300x")


def smoke(
    names: Sequence[str],
    interpreter: Path | None,
    knowledge: Knowledge,
    progress: Callable[[str], None],
    seconds: float = SECONDS,
) -> Smoke:
    """Run backend checks on the GPU of this machine with the packages of an environment."""
    selected_suites = select_suites(names, knowledge)
    python = find_interpreter(Path.cwd(), interpreter)
    environment = Environment(python, "", seconds=seconds)
    return Smoke(
        machine=machine_name(),
        interpreter=str(python),
        knowledge_date=str(knowledge.date),
        suites=tuple(run_suites(selected_suites, environment, knowledge, progress)),
    )


def find_toolchains(knowledge: Knowledge) -> Toolchains:
    """The compilers for AMD targets on this machine."""
    return toolchains(knowledge.toolchains)


def prepare_toolchain(knowledge: Knowledge, progress: Callable[[str], None]) -> None:
    """Assemble the toolchain from wheels. Reports the download size first."""
    recipe = newest_recipe(knowledge.toolchains)
    if prepared.find(recipe).targets:
        progress(f"{recipe.id} is ready")
        return
    progress(f"{recipe.title}: up to {prepared.download_megabytes(recipe)} MB to download")
    prepared.prepare(recipe, progress)
