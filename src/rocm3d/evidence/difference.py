"""Compares two runs: machine, workload, backends, time, memory, artifacts, arrays and profile. No verdict on arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.artifact.arrays import read_arrays
from rocm3d.artifact.check import check_all
from rocm3d.evidence.chain import evidence_chain
from rocm3d.evidence.comparison_side import ComparisonSide
from rocm3d.model.bundle import DiffRow, EvidenceDiff, LinkPair, Section
from rocm3d.model.errors import UserError
from rocm3d.model.run import Manifest, RunRecord

if TYPE_CHECKING:
    from rocm3d.artifact.artifact_report import Array

Value = int | float | None

_MIB = 1024 * 1024
# Text fields of the manifest. The path of the interpreter always differs and means nothing.
_MANIFEST_TEXT_FIELDS = tuple(
    name for name, about in Manifest.model_fields.items() if about.annotation is str and name != "interpreter"
)
_MOST = 1 << 26


def _peaks(run: RunRecord) -> dict[str, Value]:
    memory = run.memory
    peak_bytes = {"GPU, allocated": memory.gpu_allocated, "GPU, reserved": memory.gpu_reserved, "host": memory.host}
    return {name: None if value is None else value / _MIB for name, value in peak_bytes.items()}


def _metrics(run: RunRecord) -> dict[str, Value]:
    return {f"{item.path}: {name}": value for item in run.artifacts for name, value in item.metrics.items()}


def _shares(run: RunRecord) -> dict[str, Value]:
    """By operation, because kernel names of two platforms never match."""
    spent, whole = Counter[str](), sum(item.microseconds for item in run.kernels)
    for item in run.kernels:
        spent[item.operation or "other"] += item.microseconds  # type: ignore[assignment]
    return {f"share of {name}": 100 * value / whole for name, value in spent.items() if whole}


# The rows of a comparison: section, and texts by the name of the row.
_TEXTS: tuple[tuple[Section, Callable[[RunRecord], dict[str, str]]], ...] = (
    ("environment", lambda run: {name: getattr(run.manifest, name) for name in _MANIFEST_TEXT_FIELDS}),
    ("environment", lambda run: {"uncommitted files": str(len(run.manifest.dirty or ()))}),
    ("environment", lambda run: {f"package {item.name}": item.version for item in run.manifest.packages}),
    ("environment", lambda run: {f"${name}": value for name, value in run.manifest.variables.items()}),
    ("workload", lambda run: {"command": " ".join(run.command)}),
    ("workload", lambda run: {"outcome": run.status}),
    ("workload", lambda run: {item.expectation: item.found for item in run.expectations}),
    ("backend", lambda run: {name: ", ".join(ran) for name, ran in run.backends.items()}),
    (
        "backend",
        lambda run: {f"module {item.name}": item.stands_in or item.version or "itself" for item in run.modules},
    ),
    ("backend", lambda run: {f"fallback from {item.module}": item.where for item in run.fallbacks}),
    ("artifact", lambda run: {item.path: item.reason or item.kind for item in run.artifacts}),
)
# Section, unit, and numbers by the name of the row.
_NUMBERS: tuple[tuple[Section, str, Callable[[RunRecord], dict[str, Value]]], ...] = (
    ("time", "s", lambda run: {"whole run": run.seconds}),
    ("time", "s", lambda run: {f"first {item.kind}": item.first_seconds for item in run.steps}),
    ("time", "s", lambda run: {f"each {item.kind} after": item.steady_seconds for item in run.steps}),
    ("time", "", lambda run: {f"number of {item.kind}": item.count for item in run.steps}),
    ("memory", "MiB", _peaks),
    ("artifact", "", _metrics),
    ("profile", "%", _shares),
    ("profile", "", lambda run: {"kernels": len(run.kernels)}),
)


def compare_evidence(a: ComparisonSide, b: ComparisonSide, run: str = "") -> EvidenceDiff:
    """All rows of either side. `run` is the name of the run to compare if a side has several."""
    first, second = a.run(run), b.run(run)
    links = tuple(
        LinkPair(link=left.link, a=left, b=right)
        for left, right in zip(evidence_chain(first).links, evidence_chain(second).links, strict=True)
    )
    texts = (row for section, read in _TEXTS for row in _text_rows(section, first, second, read))
    rows = [
        # Only differing packages: there are hundreds of equal ones.
        *(row for row in texts if row.differs or not row.name.startswith("package ")),
        *(row for section, unit, read in _NUMBERS for row in _number_rows(section, first, second, read, unit)),
        *_verdicts(a, b),
        *_arrays(a, b, first, second),
    ]
    order = ("environment", "workload", "backend", "time", "memory", "artifact", "numerics", "profile")
    worse = [f"{pair.link}: {pair.b.what}" for pair in links if pair.a.there and not pair.b.there]
    return EvidenceDiff(
        a=a.name,
        b=b.name,
        links=links,
        rows=tuple(sorted(rows, key=lambda row: order.index(row.section))),
        worse=(*worse, *_new_failures(a, b)),
    )


def _verdicts(a: ComparisonSide, b: ComparisonSide) -> Iterator[DiffRow]:
    """The numerics verdicts of verify."""
    outcomes_a, outcomes_b = (
        {item.probe: item.outcome for item in side.verdicts if item.level == "numerics"} for side in (a, b)
    )
    for probe in sorted({*outcomes_a, *outcomes_b}):
        yield DiffRow(
            section="numerics", name=f"check {probe}", a=outcomes_a.get(probe, ""), b=outcomes_b.get(probe, "")
        )


def _arrays(
    a: ComparisonSide, b: ComparisonSide, first: RunRecord | None, second: RunRecord | None
) -> Iterator[DiffRow]:
    """Array by array, for artifacts that both sides have under the same name."""
    paths_b = {item.path for item in second.artifacts} if second else set()
    common = [item for item in first.artifacts if item.path in paths_b] if first else []
    for item in sorted(common, key=lambda item: item.path):
        left, right = a.file(item.path), b.file(item.path)
        if item.kind in ("arrays", "points") and left is not None and right is not None:
            yield from array_rows(item.path, left, right)


def _new_failures(a: ComparisonSide, b: ComparisonSide) -> Iterator[str]:
    """Checks that failed on B but not on A."""
    before = {(item.level, item.probe) for item in a.verdicts if item.outcome == "failed"}
    for item in b.verdicts:
        if item.outcome == "failed" and (item.level, item.probe) not in before:
            yield f"{item.level} {item.probe}: {item.reason}"


def _text_rows(
    section: Section, a: RunRecord | None, b: RunRecord | None, read: Callable[[RunRecord], dict[str, str]]
) -> Iterator[DiffRow]:
    values_a, values_b = (read(run) if run else {} for run in (a, b))
    for name in dict.fromkeys((*values_a, *values_b)):
        if values_a.get(name) or values_b.get(name):
            yield DiffRow(section=section, name=name, a=values_a.get(name, ""), b=values_b.get(name, ""))


def _number_rows(
    section: Section,
    a: RunRecord | None,
    b: RunRecord | None,
    read: Callable[[RunRecord], dict[str, Value]],
    unit: str,
) -> Iterator[DiffRow]:
    values_a, values_b = (read(run) if run else {} for run in (a, b))
    for name in dict.fromkeys((*values_a, *values_b)):
        left, right = values_a.get(name), values_b.get(name)
        if left is not None or right is not None:
            yield DiffRow(
                section=section,
                name=name,
                a=_format_value(left, unit),
                b=_format_value(right, unit),
                change=_change(left, right),
            )


def _format_value(value: Value, unit: str) -> str:
    if value is None:
        return ""
    text = f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
    return f"{text} {unit}".rstrip()


def _change(a: Value, b: Value) -> str:
    """B relative to A: a percentage, or a factor for large changes."""
    if a is None or b is None or a == b or not a:
        return ""
    return f"{(b - a) / abs(a):+.1%}" if 0.5 < b / a < 2 else f"x {b / a:.3g}"


def array_rows(name: str, a: Path, b: Path) -> Iterator[DiffRow]:
    """One row per array of either file, or a single row with the reason why they were not compared."""
    for artifact in check_all([a, b]):
        if "elements" not in artifact.metrics or artifact.metrics["elements"] > _MOST:
            change = f"not compared: {artifact.reason or 'too many elements'}"
            yield DiffRow(section="numerics", name=name, a="", b="", change=change)
            return
    try:
        arrays_a, arrays_b = dict(read_arrays(a)), dict(read_arrays(b))
    except UserError as error:
        yield DiffRow(section="numerics", name=name, a="", b="", change=f"not compared: {error.message}")
        return
    for key in sorted({*arrays_a, *arrays_b}):
        left, right = arrays_a.get(key), arrays_b.get(key)
        change = "" if left is None or right is None else _describe_difference(left, right)
        yield DiffRow(
            section="numerics",
            name=f"{name}:{key}".rstrip(":"),
            a=_describe_array(left),
            b=_describe_array(right),
            change=change,
        )


def _describe_array(array: Array | None) -> str:
    return "" if array is None else f"{array.dtype} {list(array.shape)}"


def _describe_difference(a: Array, b: Array) -> str:
    """Empty if they are equal."""
    import numpy

    if a.shape != b.shape or a.dtype.kind not in "fciub" or b.dtype.kind not in "fciub":
        return "not comparable"
    if numpy.array_equal(a, b, equal_nan=a.dtype.kind in "fc" and b.dtype.kind in "fc"):
        return ""
    dtype = numpy.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else numpy.float64
    with numpy.errstate(invalid="ignore", over="ignore"):
        difference = numpy.abs(b.astype(dtype) - a.astype(dtype))
        size = float(numpy.nanmax(numpy.abs(a.astype(dtype)), initial=0.0))
    only_one_finite = int((numpy.isfinite(a) != numpy.isfinite(b)).sum())
    finite = difference[numpy.isfinite(difference)]
    broken = f"; {only_one_finite} finite in only one of them" if only_one_finite else ""
    greatest = float(finite.max()) if finite.size else 0.0
    return f"largest difference {greatest:.3g} (largest value {size:.3g}){broken}"
