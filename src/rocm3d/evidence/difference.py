"""Compares two runs: machine, workload, backends, time, memory, artifacts, arrays and profile."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rocm3d.evidence.array_difference import array_rows
from rocm3d.evidence.chain import chain
from rocm3d.model.bundle import DiffRow, EvidenceDiff, LinkPair
from rocm3d.model.run import Manifest, RunRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocm3d.evidence.side import Side
    from rocm3d.model.artifact import Artifact
    from rocm3d.model.bundle import Section

    Value = int | float | None

_MIB = 1024 * 1024
# Text fields of the manifest. The path of the interpreter always differs and means nothing.
_PLACE = tuple(
    name for name, about in Manifest.model_fields.items() if about.annotation is str and name != "interpreter"
)


def difference(a: Side, b: Side, run: str = "") -> EvidenceDiff:
    """All rows of either side. `run` is the name of the run to compare if a side has several."""
    first, second = a.run(run), b.run(run)
    links = tuple(
        LinkPair(link=left.link, a=left, b=right)
        for left, right in zip(chain(first).links, chain(second).links, strict=True)
    )
    rows = [*_rows(first, second), *_verdicts(a, b), *_arrays(a, b, first, second)]
    order = ("environment", "workload", "backend", "time", "memory", "artifact", "numerics", "profile")
    worse = [f"{pair.link}: {pair.b.what}" for pair in links if pair.a.there and not pair.b.there]
    return EvidenceDiff(
        a=a.name,
        b=b.name,
        links=links,
        rows=tuple(sorted(rows, key=lambda row: order.index(row.section))),
        worse=(*worse, *_failed(a, b)),
    )


def _rows(a: RunRecord | None, b: RunRecord | None) -> Iterator[DiffRow]:
    for part in (_environment, _workload, _backends, _time, _memory, _artifacts, _profile):
        yield from part(a, b)


def _environment(a: RunRecord | None, b: RunRecord | None) -> Iterator[DiffRow]:
    yield from _words("environment", a, b, lambda run: {name: getattr(run.manifest, name) for name in _PLACE})
    yield from _words("environment", a, b, lambda run: {"uncommitted files": str(len(run.manifest.dirty or ()))})
    packages = _words(
        "environment", a, b, lambda run: {f"package {item.name}": item.version for item in run.manifest.packages}
    )
    # Only differing packages: there are hundreds of equal ones.
    yield from (row for row in packages if row.differs)
    yield from _words("environment", a, b, lambda run: {f"${k}": v for k, v in run.manifest.variables.items()})


def _workload(a: RunRecord | None, b: RunRecord | None) -> Iterator[DiffRow]:
    yield from _words("workload", a, b, lambda run: {"command": " ".join(run.command)})
    yield from _words("workload", a, b, lambda run: {"outcome": run.status})
    yield from _words("workload", a, b, lambda run: {e.expectation: e.found for e in run.expectations})


def _backends(a: RunRecord | None, b: RunRecord | None) -> Iterator[DiffRow]:
    yield from _words("backend", a, b, lambda run: {name: ", ".join(ran) for name, ran in run.backends.items()})
    yield from _words(
        "backend", a, b, lambda run: {f"module {m.name}": m.stands_in or m.version or "itself" for m in run.modules}
    )
    yield from _words("backend", a, b, lambda run: {f"fallback from {f.module}": f.where for f in run.fallbacks})


def _time(a: RunRecord | None, b: RunRecord | None) -> Iterator[DiffRow]:
    yield from _numbers("time", a, b, lambda run: {"whole run": run.seconds}, "s")
    yield from _numbers("time", a, b, lambda run: {f"first {s.kind}": s.first_seconds for s in run.steps}, "s")
    yield from _numbers("time", a, b, lambda run: {f"each {s.kind} after": s.steady_seconds for s in run.steps}, "s")
    yield from _numbers("time", a, b, lambda run: {f"number of {s.kind}": s.count for s in run.steps})


def _memory(a: RunRecord | None, b: RunRecord | None) -> Iterator[DiffRow]:
    def taken(run: RunRecord) -> dict[str, Value]:
        held = run.memory
        found = {"GPU, allocated": held.gpu_allocated, "GPU, reserved": held.gpu_reserved, "host": held.host}
        return {name: None if value is None else value / _MIB for name, value in found.items()}

    yield from _numbers("memory", a, b, taken, "MiB")


def _artifacts(a: RunRecord | None, b: RunRecord | None) -> Iterator[DiffRow]:
    yield from _words("artifact", a, b, lambda run: {item.path: item.reason or item.kind for item in run.artifacts})

    def metrics(run: RunRecord) -> dict[str, Value]:
        return {f"{item.path}: {name}": value for item in run.artifacts for name, value in item.metrics.items()}

    yield from _numbers("artifact", a, b, metrics)


def _profile(a: RunRecord | None, b: RunRecord | None) -> Iterator[DiffRow]:
    """By operation, because kernel names of two platforms never match."""

    def shares(run: RunRecord) -> dict[str, Value]:
        spent, whole = Counter[str](), sum(item.microseconds for item in run.kernels)
        for item in run.kernels:
            spent[item.operation or "other"] += item.microseconds  # type: ignore[assignment]
        return {f"share of {name}": 100 * value / whole for name, value in spent.items() if whole}

    yield from _numbers("profile", a, b, shares, "%")
    yield from _numbers("profile", a, b, lambda run: {"kernels": len(run.kernels)})


def _verdicts(a: Side, b: Side) -> Iterator[DiffRow]:
    """The numerics verdicts of verify."""
    mine, yours = ({item.probe: item.outcome for item in side.verdicts if item.level == "numerics"} for side in (a, b))
    for probe in sorted({*mine, *yours}):
        yield DiffRow(section="numerics", name=f"check {probe}", a=mine.get(probe, ""), b=yours.get(probe, ""))


def _arrays(a: Side, b: Side, first: RunRecord | None, second: RunRecord | None) -> Iterator[DiffRow]:
    """Array by array, for artifacts that both sides have under the same name."""
    for path, (left, right) in sorted(_common(first, second).items()):
        places = a.file(left.path), b.file(right.path)
        if left.kind in ("arrays", "points") and places[0] is not None and places[1] is not None:
            yield from array_rows(path, places[0], places[1])


def _common(a: RunRecord | None, b: RunRecord | None) -> dict[str, tuple[Artifact, Artifact]]:
    if a is None or b is None:
        return {}
    others = {item.path: item for item in b.artifacts}
    return {item.path: (item, others[item.path]) for item in a.artifacts if item.path in others}


def _failed(a: Side, b: Side) -> Iterator[str]:
    """Checks that failed on B but not on A."""
    before = {(item.level, item.probe) for item in a.verdicts if item.outcome == "failed"}
    for item in b.verdicts:
        if item.outcome == "failed" and (item.level, item.probe) not in before:
            yield f"{item.level} {item.probe}: {item.reason}"


def _words(
    section: Section, a: RunRecord | None, b: RunRecord | None, found: Callable[[RunRecord], dict[str, str]]
) -> Iterator[DiffRow]:
    mine, yours = (found(run) if run else {} for run in (a, b))
    for name in dict.fromkeys((*mine, *yours)):
        row = DiffRow(section=section, name=name, a=mine.get(name, ""), b=yours.get(name, ""))
        if row.a or row.b:
            yield row


def _numbers(
    section: Section,
    a: RunRecord | None,
    b: RunRecord | None,
    found: Callable[[RunRecord], dict[str, Value]],
    unit: str = "",
) -> Iterator[DiffRow]:
    mine, yours = (found(run) if run else {} for run in (a, b))
    for name in dict.fromkeys((*mine, *yours)):
        left, right = mine.get(name), yours.get(name)
        if left is not None or right is not None:
            yield DiffRow(
                section=section, name=name, a=_told(left, unit), b=_told(right, unit), change=_change(left, right)
            )


def _told(value: Value, unit: str) -> str:
    if value is None:
        return ""
    text = f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
    return f"{text} {unit}".rstrip()


def _change(a: Value, b: Value) -> str:
    """B relative to A: a percentage, or a factor for large changes."""
    if a is None or b is None or a == b or not a:
        return ""
    return f"{(b - a) / abs(a):+.1%}" if 0.5 < b / a < 2 else f"x {b / a:.3g}"
