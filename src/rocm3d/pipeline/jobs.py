"""Job campaigns: the jobs of a jobs.toml, and `rocm3d plan` over many repositories."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rocm3d.jobs.engine import ROCM3D
from rocm3d.jobs.folder import run_folder
from rocm3d.jobs.runner import JobRunner
from rocm3d.jobs.specification import RunSettings, jobs_from_commands, read_jobs
from rocm3d.jobs.stage import Campaign
from rocm3d.knowledge.base import Knowledge
from rocm3d.model.errors import UserError
from rocm3d.workspace.state import STATE_FOLDER

__all__ = ["Campaign", "JobRunner", "campaign", "planning_jobs"]

_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")
_PLAN_EXIT_CODES = (0, 1)


def campaign(path: Path, work: Path | None, knowledge: Callable[[], Knowledge]) -> Campaign:
    """The jobs of a file with their run folder. `knowledge` is called only if there is a GPU."""
    jobs = read_jobs(path)
    return Campaign(jobs, run_folder(jobs.path, work), lambda: knowledge().integrated_targets)


def planning_jobs(folders: Sequence[Path], gpu: str, slots: int | None) -> Campaign:
    """`rocm3d plan`, which also scans, for each repository of these folders."""
    roots = list(find_repositories(folders))
    common = Path(os.path.commonpath([folder.resolve() for folder in folders]))
    run = RunSettings(slots=slots, gpus=(), success=_PLAN_EXIT_CODES)
    commands = {_job_name(folder): _plan_command(folder, gpu) for folder in roots}
    jobs = jobs_from_commands(common / "matrix", run, commands)
    planned = Campaign(jobs, run_folder(jobs.path, None))
    if not {"waiting", "running"} & planned.status().counts.keys():
        planned.reset()  # all were planned before, but may have changed since
    return planned


def find_repositories(folders: Iterable[Path]) -> Iterable[Path]:
    """A folder with a .git or an inventory is a repository; of any other folder, its subfolders are."""
    for folder in folders:
        if not folder.is_dir():
            raise UserError(f"{folder} is not a folder")
        if (folder / ".git").exists() or (folder / STATE_FOLDER / "inventory.json").is_file():
            yield folder.resolve()
            continue
        inner = [path.resolve() for path in sorted(folder.iterdir()) if path.is_dir() and not path.name.startswith(".")]
        if not inner:
            raise UserError(f"{folder} contains no repository", hint="pass a repository, or a folder of repositories")
        yield from inner


def _plan_command(folder: Path, gpu: str) -> tuple[str, ...]:
    return (*ROCM3D, "plan", str(folder), "--gpu", gpu, "--quiet", "--output", os.devnull)


def _job_name(folder: Path) -> str:
    """The folder's name and a short digest of its path, so that equal names differ."""
    path_digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]
    return f"{_UNSAFE.sub('-', folder.name).lstrip('.+-')[:80] or 'repository'}-{path_digest}"
