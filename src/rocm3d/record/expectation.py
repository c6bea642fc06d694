"""`--expect 'KEY OP VALUE'` and the expectations of a known repository: parsed before a run, evaluated after it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from rocm3d.knowledge.base import suggestion
from rocm3d.model.artifact import METRICS, is_metric
from rocm3d.model.backend import Backend
from rocm3d.model.errors import UserError
from rocm3d.model.port import Port, Workload
from rocm3d.model.run import ExpectationResult, RunRecord

_PATTERN = re.compile(r"\s*([\w.-]+)\s*(>=|<=|!=|=|>|<)\s*([^\s=<>!].*?)\s*")
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "=": operator.eq, "!=": operator.ne, ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_MIB = 1024 * 1024
NOT_MEASURED = "not measured in this run"

# Keys of every run. Further keys are operations (their backends) and metrics of artifacts.
KEYS: Mapping[str, str] = {
    "exit_code": "the program's exit code",
    "seconds": "duration of the run",
    "steps": "steps of the longest loop",
    "step_seconds": "median step of that loop, without the first",
    "first_step_seconds": "first step of that loop, including compilation",
    "gpu_mib": "peak GPU memory reserved by torch",
    "host_mib": "peak host memory of all processes",
    "fallbacks": "watched modules that could not be imported",
    "stand_ins": "modules replaced by a drop-in or a stub",
    "files": "files that the program wrote",
}
# torch's SDPA backends, reported when no attention kernel was profiled.
_SDPA_BACKENDS = ("torch SDPA math", "torch SDPA flash", "torch SDPA efficient", "torch SDPA cudnn")
_PLACEHOLDER = re.compile(r"<[^<>]*>")
_PYTHON = re.compile(r"python[\d.]*")


@dataclass(frozen=True)
class Expectation:
    """A parsed expectation; `labels` are the backend names that `value` stands for."""

    key: str
    sign: str
    value: str
    labels: frozenset[str] = frozenset()
    source: str = ""

    def __str__(self) -> str:
        return f"{self.key} {self.sign} {self.value}"


def parse_expectation(text: str, backends: Iterable[Backend]) -> Expectation:
    """Raises UserError for an unknown key or backend, a value that is not a number, and `<` or `>` on backends."""
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise UserError(f"--expect {text!r} is not KEY OP VALUE", hint="for example --expect 'gaussians >= 50000'")
    expectation, known = Expectation(match[1], match[2], match[3]), list(backends)
    operations = {backend.operation for backend in known}
    if expectation.key in operations:
        return _with_backend_labels(expectation, [backend for backend in known if backend.operation == expectation.key])
    if expectation.key in KEYS or is_metric(expectation.key):
        if _parse_number(expectation.value) is None:
            raise UserError(f"--expect {text!r}: {expectation.value!r} is not a number")
        return expectation
    hint = suggestion(expectation.key, (*KEYS, *operations, *(name for kind in METRICS.values() for name in kind)))
    raise UserError(f"--expect {text!r}: unknown key {expectation.key!r}", hint=hint)


def evaluate(expectation: Expectation, run: RunRecord) -> ExpectationResult:
    """A key without a measured value is not met. A metric must hold for every artifact that has it."""
    expected_value = _parse_number(expectation.value)
    if (expectation.key not in KEYS and not is_metric(expectation.key)) or expected_value is None:
        return _evaluate_backend(expectation, run)
    values = _run_values(expectation.key, run) if expectation.key in KEYS else _artifact_values(expectation.key, run)
    met = bool(values) and all(_COMPARE[expectation.sign](value, expected_value) for value in values.values())
    measured = ", ".join(f"{value:g} ({path})" if path else f"{value:g}" for path, value in values.items())
    return ExpectationResult(
        expectation=str(expectation), met=met, found=measured or NOT_MEASURED, source=expectation.source
    )


def _artifact_values(key: str, run: RunRecord) -> dict[str, float]:
    return {artifact.path: artifact.metrics[key] for artifact in run.artifacts if key in artifact.metrics}


def _evaluate_backend(expectation: Expectation, run: RunRecord) -> ExpectationResult:
    """`=`: every backend of the operation matches; `!=`: none does."""
    recorded = run.backends.get(expectation.key, ())
    matches = [label in expectation.labels or _contains_words(expectation.value, label) for label in recorded]
    met = bool(recorded) and (all(matches) if expectation.sign == "=" else not any(matches))
    return ExpectationResult(
        expectation=str(expectation), met=met, found=", ".join(recorded) or NOT_MEASURED, source=expectation.source
    )


def _run_values(key: str, run: RunRecord) -> dict[str, float]:
    loop = max(run.steps, key=lambda steps: steps.count, default=None)
    memory = run.memory
    values: dict[str, float | None] = {
        "exit_code": run.exit_code,
        "seconds": run.seconds,
        "steps": loop.count if loop else None,
        "step_seconds": loop.steady_seconds if loop else None,
        "first_step_seconds": loop.first_seconds if loop else None,
        "gpu_mib": None if memory.gpu_reserved is None else memory.gpu_reserved / _MIB,
        "host_mib": None if memory.host is None else memory.host / _MIB,
        "fallbacks": len(run.fallbacks),
        "stand_ins": sum(bool(steps.stands_in) for steps in run.modules),
        "files": len(run.files),
    }
    value = values[key]
    return {} if value is None else {"": value}


def _with_backend_labels(expectation: Expectation, known: list[Backend]) -> Expectation:
    """Add the backends that the value names, by label or by record id."""
    if expectation.sign not in ("=", "!="):
        raise UserError(f"--expect '{expectation}': compare a backend with = or !=, not {expectation.sign}")
    selected = {
        backend.backend
        for backend in known
        if _contains_words(expectation.value, backend.backend) or _contains_words(expectation.value, backend.id)
    }
    if not selected and not any(_contains_words(expectation.value, name) for name in _SDPA_BACKENDS):
        labels = ", ".join(sorted({backend.backend for backend in known}))
        raise UserError(f"--expect '{expectation}': unknown backend for {expectation.key}", hint=f"known: {labels}")
    return replace(expectation, labels=frozenset(selected))


def _contains_words(value: str, label: str) -> bool:
    """Whether the label contains the value as whole words: `ck` is in `ck-fmha`, not in `stack`."""
    return re.search(rf"(?<![a-z0-9]){re.escape(value.lower())}(?![a-z0-9])", label.lower()) is not None


def _parse_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def is_workload(command: Sequence[str], workload: Workload) -> bool:
    """Whether the command contains the record's arguments in their order; further arguments may be in between."""
    if not workload.command or not command:
        return False
    program, arguments = command[0], iter(command[1:])
    if not _matches_program(program, workload.command[0]):
        return False
    return all(
        any(_matches_argument(argument, expected) for argument in arguments) for expected in workload.command[1:]
    )


def port_expectations(port: Port, backends: Iterable[Backend]) -> tuple[Expectation, ...]:
    """Expectations of the port's record, each with its source."""
    if port.workload is None:
        return ()
    known = list(backends)
    return tuple(
        replace(parse_expectation(entry.expect, known), source=f"{entry.source.where}, {entry.known}")
        for entry in port.workload.expect
    )


def _matches_program(program: str, expected: str) -> bool:
    """Compares file names; python3.12 matches python."""
    name = PurePath(program).name
    return name == expected or (expected == "python" and _PYTHON.fullmatch(name) is not None)


def _matches_argument(argument: str, expected: str) -> bool:
    """The record's argument, or a path that ends with it; `<...>` in the record matches any text."""
    pattern = ".+".join(re.escape(part) for part in _PLACEHOLDER.split(expected))
    return re.fullmatch(f"(.*/)?{pattern}", argument, re.DOTALL) is not None
