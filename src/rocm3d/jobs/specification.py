"""jobs.toml: the jobs, and how to run them."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from rocm3d.model.base import Record, describe_validation_error
from rocm3d.model.duration import parse_duration
from rocm3d.model.errors import UserError
from rocm3d.model.toml import TomlError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

_MEMORY = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT])(?:iB|B)?")
_BYTES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_HINT = "see docs/jobs.md for the keys of jobs.toml"
_PLACEHOLDER = "{}"


def parse_seconds(value: object) -> object:
    """Parse 600, "600s", "20m", "2h" or "1d"; other types are returned unchanged for pydantic to check."""
    return parse_duration(value) if isinstance(value, str) else value


def parse_memory(value: object) -> object:
    """Parse bytes, "512 MiB", "8 GiB" or "8G"; units are powers of 1024."""
    if isinstance(value, str):
        match = _MEMORY.fullmatch(value.strip())
        if match is None:
            raise ValueError(f"{value!r} is not a memory size, for example 8 GiB")
        return int(float(match[1]) * _BYTES[match[2]])
    return value


def _refuse_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("must be a number")  # noqa: TRY004  (pydantic reports a ValueError as a wrong value)
    return value


Seconds = Annotated[
    float, BeforeValidator(parse_seconds), BeforeValidator(_refuse_bool), Field(gt=0, allow_inf_nan=False)
]
MemorySize = Annotated[int, BeforeValidator(parse_memory), BeforeValidator(_refuse_bool), Field(ge=0)]
Repetitions = Annotated[int, BeforeValidator(_refuse_bool), Field(ge=0, le=1000, strict=True)]
Count = Annotated[int, BeforeValidator(_refuse_bool), Field(ge=1, le=4096, strict=True)]
NonEmptyText = Annotated[str, Field(min_length=1, pattern=r"^[^\x00]*$", strict=True)]
Environment = dict[Annotated[str, Field(pattern=r"^[^=\x00]+$")], Annotated[str, Field(pattern=r"^[^\x00]*$")]]


class JobDefaults(Record):
    """Settings that apply to all jobs in [run] and to one job in [[job]]."""

    folder: NonEmptyText | None = None
    env: Environment = Field(default_factory=dict)
    timeout: Seconds | None = None
    grace: Annotated[float, BeforeValidator(parse_seconds), Field(ge=0, le=600)] | None = None
    retries: Repetitions | None = None
    free_vram: MemorySize | None = Field(default=None, alias="free-vram")
    success: tuple[Annotated[int, Field(ge=0, le=255)], ...] | None = None
    evidence: bool | None = None


class SlurmSettings(Record):
    """Parameters for sbatch, with submitit's names."""

    partition: NonEmptyText | None = None
    account: NonEmptyText | None = None
    qos: NonEmptyText | None = None
    gres: NonEmptyText | None = None
    cpus_per_task: Count | None = Field(default=None, alias="cpus-per-task")
    mem_gb: Annotated[float, Field(gt=0)] | None = Field(default=None, alias="mem-gb")
    setup: tuple[str, ...] = ()


class RaySettings(Record):
    """Address of the Ray cluster, and the resources of each job."""

    address: NonEmptyText | None = None
    cpus: Annotated[float, Field(gt=0)] = 1
    gpus: Annotated[float, Field(ge=0)] | None = None


class RunSettings(JobDefaults):
    """The [run] table: engine, GPUs and defaults for all jobs."""

    engine: Literal["local", "slurm", "ray"] = "local"
    gpus: tuple[NonEmptyText, ...] | None = None
    per_gpu: Count = Field(default=1, alias="per-gpu")
    slots: Count | None = None
    check_gpu: bool = Field(default=True, alias="check-gpu")
    interruptions: Repetitions = 5


class JobEntry(JobDefaults):
    """A [[job]] table; with `each` it expands to several jobs."""

    id: NonEmptyText
    command: tuple[NonEmptyText, ...] = Field(min_length=1)
    each: tuple[NonEmptyText, ...] = ()

    @model_validator(mode="after")
    def _check_placeholder(self) -> JobEntry:
        if self.each and _PLACEHOLDER not in self.id:
            raise ValueError("the id of a job with `each` needs a {} for its value")
        return self


class JobsFile(Record):
    """The content of a jobs.toml."""

    run: RunSettings = RunSettings.model_construct()
    slurm: SlurmSettings = SlurmSettings.model_construct()
    ray: RaySettings = RaySettings.model_construct()
    job: tuple[JobEntry, ...] = Field(min_length=1)


class Job(Record):
    """One job with all defaults applied. `digest` changes with its command, folder or environment."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._+-]{0,119}$")]
    command: tuple[str, ...]
    folder: str
    env: dict[str, str]
    timeout: float | None
    grace: float
    retries: int
    free_vram: int
    success: tuple[int, ...]
    evidence: bool
    digest: str = ""


class Jobs(Record):
    """All jobs of a file, with `each` expanded, and how to run them."""

    path: Path
    run: RunSettings
    slurm: SlurmSettings
    ray: RaySettings
    jobs: tuple[Job, ...]


def read_jobs(path: Path) -> Jobs:
    """Read a jobs.toml. Raises UserError with a one-line message if it is invalid."""
    try:
        content = JobsFile.model_validate(parse(path.read_bytes()))
        jobs = tuple(
            _expand_job(entry, value, content.run, path) for entry in content.job for value in entry.each or ("",)
        )
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", hint=_HINT) from error
    except TomlError as error:
        raise UserError(f"{path} {error}", hint=_HINT) from error
    except ValidationError as error:
        raise UserError(f"{path}: {describe_validation_error(error)}", hint=_HINT) from error
    _refuse_duplicate_ids(jobs, path)
    return Jobs.model_construct(path=path.resolve(), run=content.run, slurm=content.slurm, ray=content.ray, jobs=jobs)


def jobs_from_commands(path: Path, run: RunSettings, commands: dict[str, tuple[str, ...]]) -> Jobs:
    """Jobs without a file; the stem of `path` becomes the name of the run."""
    jobs = tuple(_expand_job(JobEntry(id=name, command=command), "", run, path) for name, command in commands.items())
    return Jobs.model_construct(path=path, run=run, slurm=SlurmSettings(), ray=RaySettings(), jobs=jobs)


def _expand_job(entry: JobEntry, value: str, run: RunSettings, path: Path) -> Job:
    def fill(text: str) -> str:
        return text.replace(_PLACEHOLDER, value) if entry.each else text

    def setting(name: str, default: Any) -> Any:
        own, common = getattr(entry, name), getattr(run, name)
        return own if own is not None else common if common is not None else default

    command = tuple(fill(argument) for argument in entry.command)
    folder = (path.resolve().parent / fill(setting("folder", "."))).resolve()
    env = {**run.env, **{name: fill(text) for name, text in entry.env.items()}}
    identity = json.dumps([command, str(folder), sorted(env.items())])
    return Job(
        id=fill(entry.id),
        command=command,
        folder=str(folder),
        env=env,
        timeout=setting("timeout", None),
        grace=setting("grace", 5.0),
        retries=setting("retries", 0),
        free_vram=setting("free_vram", 0),
        success=setting("success", (0,)),
        evidence=setting("evidence", False),
        digest=hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:16],
    )


def _refuse_duplicate_ids(jobs: Iterable[Job], path: Path) -> None:
    known_ids: set[str] = set()
    for job in jobs:
        # Ids become file names, and some file systems ignore case.
        if job.id.lower() in known_ids:
            raise UserError(f"{path}: two jobs have the id {job.id}", hint="give each job a different id")
        known_ids.add(job.id.lower())
