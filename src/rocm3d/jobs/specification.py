"""jobs.toml: the jobs, and how to run them."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from rocm3d.model.base import Record, describe_validation_error
from rocm3d.model.failure import UserError
from rocm3d.model.toml import TomlError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

_TIME = re.compile(r"(\d+(?:\.\d+)?) ?([smhd]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_MEMORY = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT])(?:iB|B)?")
_BYTES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_HINT = "see docs/jobs.md for the keys of jobs.toml"
_HERE = "{}"


def seconds(value: object) -> object:
    """Parse 600, "600s", "20m", "2h" or "1d"; other types are returned unchanged for pydantic to check."""
    if isinstance(value, str):
        form = _TIME.fullmatch(value.strip())
        if form is None:
            raise ValueError(f"{value!r} is not a duration, for example 600s, 20m or 2h")
        return float(form[1]) * _SECONDS[form[2]]
    return value


def memory(value: object) -> object:
    """Parse bytes, "512 MiB", "8 GiB" or "8G"; units are powers of 1024."""
    if isinstance(value, str):
        form = _MEMORY.fullmatch(value.strip())
        if form is None:
            raise ValueError(f"{value!r} is not a memory size, for example 8 GiB")
        return int(float(form[1]) * _BYTES[form[2]])
    return value


def _no_flag(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("must be a number")  # noqa: TRY004  (pydantic reports a ValueError as a wrong value)
    return value


Seconds = Annotated[float, BeforeValidator(seconds), BeforeValidator(_no_flag), Field(gt=0, allow_inf_nan=False)]
Memory = Annotated[int, BeforeValidator(memory), BeforeValidator(_no_flag), Field(ge=0)]
Times = Annotated[int, BeforeValidator(_no_flag), Field(ge=0, le=1000, strict=True)]
Count = Annotated[int, BeforeValidator(_no_flag), Field(ge=1, le=4096, strict=True)]
Word = Annotated[str, Field(min_length=1, pattern=r"^[^\x00]*$", strict=True)]
Environment = dict[Annotated[str, Field(pattern=r"^[^=\x00]+$")], Annotated[str, Field(pattern=r"^[^\x00]*$")]]


class Limits(Record):
    """Settings that apply to all jobs in [run] and to one job in [[job]]."""

    folder: Word | None = None
    env: Environment = Field(default_factory=dict)
    timeout: Seconds | None = None
    grace: Annotated[float, BeforeValidator(seconds), Field(ge=0, le=600)] | None = None
    retries: Times | None = None
    free_vram: Memory | None = Field(default=None, alias="free-vram")
    success: tuple[Annotated[int, Field(ge=0, le=255)], ...] | None = None
    evidence: bool | None = None


class Slurm(Record):
    """Parameters for sbatch, with submitit's names."""

    partition: Word | None = None
    account: Word | None = None
    qos: Word | None = None
    gres: Word | None = None
    cpus_per_task: Count | None = Field(default=None, alias="cpus-per-task")
    mem_gb: Annotated[float, Field(gt=0)] | None = Field(default=None, alias="mem-gb")
    setup: tuple[str, ...] = ()


class Ray(Record):
    """Address of the Ray cluster, and the resources of each job."""

    address: Word | None = None
    cpus: Annotated[float, Field(gt=0)] = 1
    gpus: Annotated[float, Field(ge=0)] | None = None


class Run(Limits):
    """The [run] table: engine, GPUs and defaults for all jobs."""

    engine: Literal["local", "slurm", "ray"] = "local"
    gpus: tuple[Word, ...] | None = None
    per_gpu: Count = Field(default=1, alias="per-gpu")
    slots: Count | None = None
    check_gpu: bool = Field(default=True, alias="check-gpu")
    interruptions: Times = 5


class Entry(Limits):
    """A [[job]] table; with `each` it expands to several jobs."""

    id: Word
    command: tuple[Word, ...] = Field(min_length=1)
    each: tuple[Word, ...] = ()

    @model_validator(mode="after")
    def _has_a_place(self) -> Entry:
        if self.each and _HERE not in self.id:
            raise ValueError("the id of a job with `each` needs a {} for its value")
        return self


class JobsFile(Record):
    """The content of a jobs.toml."""

    run: Run = Run.model_construct()
    slurm: Slurm = Slurm.model_construct()
    ray: Ray = Ray.model_construct()
    job: tuple[Entry, ...] = Field(min_length=1)


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
    run: Run
    slurm: Slurm
    ray: Ray
    jobs: tuple[Job, ...]


def read(path: Path) -> Jobs:
    """Read a jobs.toml. Raises UserError with a one-line message if it is invalid."""
    try:
        said = JobsFile.model_validate(parse(path.read_bytes()))
        jobs = tuple(_job(entry, value, said.run, path) for entry in said.job for value in entry.each or ("",))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", hint=_HINT) from error
    except TomlError as error:
        raise UserError(f"{path} {error}", hint=_HINT) from error
    except ValidationError as error:
        raise UserError(f"{path}: {describe_validation_error(error)}", hint=_HINT) from error
    _refuse_twins(jobs, path)
    return Jobs.model_construct(path=path.resolve(), run=said.run, slurm=said.slurm, ray=said.ray, jobs=jobs)


def of_commands(path: Path, run: Run, commands: dict[str, tuple[str, ...]]) -> Jobs:
    """Jobs without a file; the stem of `path` becomes the name of the run."""
    jobs = tuple(_job(Entry(id=name, command=command), "", run, path) for name, command in commands.items())
    return Jobs.model_construct(path=path, run=run, slurm=Slurm(), ray=Ray(), jobs=jobs)


def _job(entry: Entry, value: str, run: Run, path: Path) -> Job:
    def filled(text: str) -> str:
        return text.replace(_HERE, value) if entry.each else text

    def said(name: str, otherwise: Any) -> Any:
        own, common = getattr(entry, name), getattr(run, name)
        return own if own is not None else common if common is not None else otherwise

    command = tuple(filled(word) for word in entry.command)
    folder = (path.resolve().parent / filled(said("folder", "."))).resolve()
    env = {**run.env, **{name: filled(text) for name, text in entry.env.items()}}
    identity = json.dumps([command, str(folder), sorted(env.items())])
    return Job(
        id=filled(entry.id),
        command=command,
        folder=str(folder),
        env=env,
        timeout=said("timeout", None),
        grace=said("grace", 5.0),
        retries=said("retries", 0),
        free_vram=said("free_vram", 0),
        success=said("success", (0,)),
        evidence=said("evidence", False),
        digest=hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:16],
    )


def _refuse_twins(jobs: Iterable[Job], path: Path) -> None:
    seen: set[str] = set()
    for job in jobs:
        # Ids become file names, and some file systems ignore case.
        if job.id.lower() in seen:
            raise UserError(f"{path}: two jobs have the id {job.id}", hint="give each job a different id")
        seen.add(job.id.lower())
