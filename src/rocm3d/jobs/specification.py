"""jobs.toml: which jobs there are, and how they are to be run."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from rocm3d.model.base import Record, describe
from rocm3d.model.failure import UserError
from rocm3d.model.toml import NotToml, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

_TIME = re.compile(r"(\d+(?:\.\d+)?) ?([smhd]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_MEMORY = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT])(?:iB|B)?")
_BYTES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_HINT = "see docs/jobs.md for the keys of jobs.toml"
_HERE = "{}"


def seconds(value: object) -> object:
    """600, "600s", "20m", "2h" or "1d"."""
    if isinstance(value, str):
        form = _TIME.fullmatch(value.strip())
        if form is None:
            raise ValueError(f"{value!r} is not a time, for example 600s, 20m or 2h")
        return float(form[1]) * _SECONDS[form[2]]
    return value


def memory(value: object) -> object:
    """Bytes, or "512 MiB", "8 GiB", "8G": always powers of 1024."""
    if isinstance(value, str):
        form = _MEMORY.fullmatch(value.strip())
        if form is None:
            raise ValueError(f"{value!r} is not an amount of memory, for example 8 GiB")
        return int(float(form[1]) * _BYTES[form[2]])
    return value


def _no_flag(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("a number is wanted")  # noqa: TRY004  (pydantic takes it for a wrong value)
    return value


Seconds = Annotated[float, BeforeValidator(seconds), BeforeValidator(_no_flag), Field(gt=0, allow_inf_nan=False)]
Memory = Annotated[int, BeforeValidator(memory), BeforeValidator(_no_flag), Field(ge=0)]
Times = Annotated[int, BeforeValidator(_no_flag), Field(ge=0, le=1000, strict=True)]
Count = Annotated[int, BeforeValidator(_no_flag), Field(ge=1, le=4096, strict=True)]
Word = Annotated[str, Field(min_length=1, pattern=r"^[^\x00]*$", strict=True)]
Environment = dict[Annotated[str, Field(pattern=r"^[^=\x00]+$")], Annotated[str, Field(pattern=r"^[^\x00]*$")]]


class Limits(Record):
    """What may be said for all jobs, in [run], and for one."""

    folder: Word | None = None
    env: Environment = Field(default_factory=dict)
    timeout: Seconds | None = None
    grace: Annotated[float, BeforeValidator(seconds), Field(ge=0, le=600)] | None = None
    retries: Times | None = None
    free_vram: Memory | None = Field(default=None, alias="free-vram")
    success: tuple[Annotated[int, Field(ge=0, le=255)], ...] | None = None
    evidence: bool | None = None


class Slurm(Record):
    """What sbatch is told, by names that submitit knows."""

    partition: Word | None = None
    account: Word | None = None
    qos: Word | None = None
    gres: Word | None = None
    cpus_per_task: Count | None = Field(default=None, alias="cpus-per-task")
    mem_gb: Annotated[float, Field(gt=0)] | None = Field(default=None, alias="mem-gb")
    setup: tuple[str, ...] = ()


class Ray(Record):
    """Which Ray, and what each job takes of it."""

    address: Word | None = None
    cpus: Annotated[float, Field(gt=0)] = 1
    gpus: Annotated[float, Field(ge=0)] | None = None


class Run(Limits):
    """How the jobs are run."""

    engine: Literal["local", "slurm", "ray"] = "local"
    gpus: tuple[Word, ...] | None = None
    per_gpu: Count = Field(default=1, alias="per-gpu")
    slots: Count | None = None
    check_gpu: bool = Field(default=True, alias="check-gpu")
    interruptions: Times = 5


class Entry(Limits):
    """A [[job]] as it stands in the file; with `each` it stands for several."""

    id: Word
    command: tuple[Word, ...] = Field(min_length=1)
    each: tuple[Word, ...] = ()

    @model_validator(mode="after")
    def _has_a_place(self) -> Entry:
        if self.each and _HERE not in self.id:
            raise ValueError("an id of a job with `each` needs a {} for its value")
        return self


class JobsFile(Record):
    """The whole file."""

    run: Run = Run.model_construct()
    slurm: Slurm = Slurm.model_construct()
    ray: Ray = Ray.model_construct()
    job: tuple[Entry, ...] = Field(min_length=1)


class Job(Record):
    """One job with all that is said of it. `digest` tells whether it is still the same one."""

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
    """All jobs of a file, and how to run them."""

    path: Path
    run: Run
    slurm: Slurm
    ray: Ray
    jobs: tuple[Job, ...]


def read(path: Path) -> Jobs:
    """A jobs.toml, or one line that says what is wrong with it."""
    try:
        said = JobsFile.model_validate(parse(path.read_bytes()))
        jobs = tuple(_job(entry, value, said.run, path) for entry in said.job for value in entry.each or ("",))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", hint=_HINT) from error
    except NotToml as error:
        raise UserError(f"{path} {error}", hint=_HINT) from error
    except ValidationError as error:
        raise UserError(f"{path}: {describe(error)}", hint=_HINT) from error
    _refuse_twins(jobs, path)
    return Jobs.model_construct(path=path.resolve(), run=said.run, slurm=said.slurm, ray=said.ray, jobs=jobs)


def of_commands(path: Path, run: Run, commands: dict[str, tuple[str, ...]]) -> Jobs:
    """Jobs that no file tells of; `path` is what they are called after."""
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
        # Some file systems take a and A for one name.
        if job.id.lower() in seen:
            raise UserError(f"{path}: two jobs are called {job.id}", hint="give each job an id of its own")
        seen.add(job.id.lower())
