"""`--expect 'KEY OP VALUE'`: conditions on a run, parsed before the run and evaluated after it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rocm3d.knowledge.base import suggestion
from rocm3d.model.artifact import METRICS as METRICS
from rocm3d.model.artifact import is_metric
from rocm3d.model.failure import UserError
from rocm3d.model.run import ExpectationResult, RunRecord

if TYPE_CHECKING:
    from rocm3d.model.backend import Backend

_FORM = re.compile(r"\s*([\w.-]+)\s*(>=|<=|!=|=|>|<)\s*([^\s=<>!].*?)\s*")
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "=": operator.eq, "!=": operator.ne, ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_MIB = 1024 * 1024
NOTHING = "not measured in this run"

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


def read(text: str, backends: Iterable[Backend]) -> Expectation:
    """Raises UserError for an unknown key or backend, a value that is not a number, and `<` or `>` on backends."""
    form = _FORM.fullmatch(text)
    if form is None:
        raise UserError(f"--expect {text!r} is not KEY OP VALUE", hint="for example --expect 'gaussians >= 50000'")
    asked, known = Expectation(form[1], form[2], form[3]), list(backends)
    operations = {item.operation for item in known}
    if asked.key in operations:
        return _of_operation(asked, [item for item in known if item.operation == asked.key])
    if asked.key in KEYS or is_metric(asked.key):
        if _number(asked.value) is None:
            raise UserError(f"--expect {text!r}: {asked.value!r} is not a number")
        return asked
    hint = suggestion(asked.key, (*KEYS, *operations, *(name for kind in METRICS.values() for name in kind)))
    raise UserError(f"--expect {text!r}: unknown key {asked.key!r}", hint=hint)


def judge(asked: Expectation, run: RunRecord) -> ExpectationResult:
    """A key without a measured value is not met. A metric must hold for every artifact that has it."""
    wanted = _number(asked.value)
    if (asked.key not in KEYS and not is_metric(asked.key)) or wanted is None:
        return _of_backend(asked, run)
    values = _of_run(asked.key, run) if asked.key in KEYS else _of_artifacts(asked.key, run)
    met = bool(values) and all(_COMPARE[asked.sign](value, wanted) for value in values.values())
    said = ", ".join(f"{value:g} ({path})" if path else f"{value:g}" for path, value in values.items())
    return ExpectationResult(expectation=str(asked), met=met, found=said or NOTHING, source=asked.source)


def _of_artifacts(key: str, run: RunRecord) -> dict[str, float]:
    return {item.path: item.metrics[key] for item in run.artifacts if key in item.metrics}


def _of_backend(asked: Expectation, run: RunRecord) -> ExpectationResult:
    """`=`: every backend of the operation matches; `!=`: none does."""
    seen = run.backends.get(asked.key, ())
    fits = [label in asked.labels or _fits(asked.value, label) for label in seen]
    met = bool(seen) and (all(fits) if asked.sign == "=" else not any(fits))
    return ExpectationResult(expectation=str(asked), met=met, found=", ".join(seen) or NOTHING, source=asked.source)


def _of_run(key: str, run: RunRecord) -> dict[str, float]:
    loop = max(run.steps, key=lambda item: item.count, default=None)
    memory = run.memory
    found: dict[str, float | None] = {
        "exit_code": run.exit_code,
        "seconds": run.seconds,
        "steps": loop.count if loop else None,
        "step_seconds": loop.steady_seconds if loop else None,
        "first_step_seconds": loop.first_seconds if loop else None,
        "gpu_mib": None if memory.gpu_reserved is None else memory.gpu_reserved / _MIB,
        "host_mib": None if memory.host is None else memory.host / _MIB,
        "fallbacks": len(run.fallbacks),
        "stand_ins": sum(bool(item.stands_in) for item in run.modules),
        "files": len(run.files),
    }
    value = found[key]
    return {} if value is None else {"": value}


def _of_operation(asked: Expectation, known: list[Backend]) -> Expectation:
    """Add the backends that the value names, by label or by record id."""
    if asked.sign not in ("=", "!="):
        raise UserError(f"--expect '{asked}': compare a backend with = or !=, not {asked.sign}")
    meant = {item.backend for item in known if _fits(asked.value, item.backend) or _fits(asked.value, item.id)}
    if not meant and not any(_fits(asked.value, way) for way in _WAYS):
        labels = ", ".join(sorted({item.backend for item in known}))
        raise UserError(f"--expect '{asked}': unknown backend for {asked.key}", hint=f"known: {labels}")
    return replace(asked, labels=frozenset(meant))


# torch's SDPA backends, reported when no attention kernel was profiled.
_WAYS = ("torch SDPA math", "torch SDPA flash", "torch SDPA efficient", "torch SDPA cudnn")


def _fits(value: str, label: str) -> bool:
    """Whether the label contains the value as whole words: `ck` is in `ck-fmha`, not in `stack`."""
    return re.search(rf"(?<![a-z0-9]){re.escape(value.lower())}(?![a-z0-9])", label.lower()) is not None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
