"""A recorded run as the HTML report shows it: facts, charts of kernels, memory and steps, and artifacts."""

from __future__ import annotations

import shlex
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from markupsafe import Markup

from rocm3d.render import runs
from rocm3d.render.artifact_view import ArtifactView
from rocm3d.render.charts.bars import Bar, bars
from rocm3d.render.charts.lines import Apart, Line, Plot, lines
from rocm3d.render.charts.scale import bytes_, plain, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.evidence import Evidence
    from rocm3d.model.report import ReportedRun
    from rocm3d.model.run import MemoryPoint, RunRecord, Steps

_BARS, _COLOURS = 12, 6
NOT_KNOWN = "not known by name"


@dataclass(frozen=True)
class RunView:
    """`later` is the folder of a newer run of the same name; `remark` says why the run does not count for the port."""

    item: ReportedRun
    later: str = ""
    remark: str = ""

    @property
    def run(self) -> RunRecord:
        """Shorthand for templates."""
        return self.item.run

    @property
    def tone(self) -> str:
        """The CSS class. Green only if all expectations are met and no link of the chain is missing."""
        if not self.item.is_good or self._unsound:
            return "failed"
        return "not_run" if self.item.chain.missing or self.remark or self._stands_in else "passed"

    @property
    def sentence(self) -> str:
        """How the run ended, and which links of its chain are missing."""
        if self.item.altered:
            return f"Changed since it was sealed: {', '.join(item.path for item in self.item.altered[:4])}."
        run, unmet = self.run, sum(not item.met for item in self.run.expectations)
        if run.status != "finished":
            return f"{run.status.replace('_', ' ').capitalize()} after {run.seconds:.1f} s: {run.reason}."
        if unmet:
            return f"Finished in {run.seconds:.1f} s, but {unmet} of {len(run.expectations)} expectations are not met."
        missing = ", ".join(link.link for link in self.item.chain.missing)
        parts = [f"Finished in {run.seconds:.1f} s"]
        parts += [f"{self._unsound} of {len(run.artifacts)} artifacts are invalid"] if self._unsound else []
        parts += [f"missing evidence: {missing}"] if missing else []
        parts += [f"substitutes ran: {', '.join(self._stands_in)}"] if self._stands_in else []
        return f"{'; '.join(parts)}."

    @property
    def _unsound(self) -> int:
        return sum(item.outcome == "bad" for item in self.run.artifacts)

    @property
    def _stands_in(self) -> list[str]:
        return [item.name for item in self.run.modules if item.stands_in]

    @property
    def facts(self) -> Iterator[tuple[str, str]]:
        """Label and value of what is known about the run; unknown values are left out."""
        run, held = self.run, self.run.manifest
        yield "Ran on", runs.place(run)
        yield "Machine", held.machine
        yield "Command", shlex.join(run.command)
        yield "Started", f"{run.started:%Y-%m-%d %H:%M:%S} UTC, took {run.seconds:.1f} s (limit {run.limit:g} s)"
        if held.driver:
            yield "Driver", held.driver
        yield "Commit", self._commit
        for operation, labels in run.backends.items():
            if operation != "copy":
                yield f"Backend of {operation}", ", ".join(labels)

    @property
    def _commit(self) -> str:
        held = self.run.manifest
        if not held.commit:
            return "unknown: not a git repository"
        if not held.dirty:
            return held.commit
        return f"{held.commit} with {len(held.dirty)} uncommitted changes: {', '.join(held.dirty[:5])}"

    @cached_property
    def kernels(self) -> Markup:
        """A bar chart of kernel time by backend; empty without kernels."""
        times: dict[tuple[str, str], float] = defaultdict(float)
        for kernel in self.run.kernels:
            times[kernel.operation, kernel.backend] += max(0.0, kernel.microseconds)
        rows = _kernel_bars(sorted(times.items(), key=lambda item: -item[1]))
        return Markup(bars("Kernel time by backend", rows)) if rows else Markup()  # noqa: S704  (drawn by us)

    @property
    def busy(self) -> str:
        """How much of the run the bars cover."""
        busy = sum(kernel.microseconds for kernel in self.run.kernels) / 1e6
        calls = sum(kernel.calls for kernel in self.run.kernels)
        watched = self.run.profiled_seconds
        return (
            f"{calls:,} calls of {len(self.run.kernels)} kernels: {plain(busy)} s of GPU time in {plain(watched)} s "
            f"profiled, of {plain(self.run.seconds)} s in total. Kernels outside the profiled time are not included."
        )

    @cached_property
    def memory(self) -> Markup:
        """Peak memory, and memory over time if it was recorded."""
        held, rows = self.run.memory, list[Bar]()
        whole = self.run.manifest.gpu_bytes
        most = max(value or 0 for value in (held.gpu_reserved, held.gpu_allocated, held.host)) or 1
        for label, value, kind in (
            ("GPU, reserved", held.gpu_reserved, "c0"),
            ("GPU, in tensors", held.gpu_allocated, "c1"),
            ("host memory", held.host, "c2"),
        ):
            if value is None:
                continue
            of_gpu = bool(whole) and label.startswith("GPU")
            said = bytes_(value).of(value) + (f" of {bytes_(whole).of(whole)}" if of_gpu else "")
            rows.append(Bar(label, said, value / (whole if of_gpu else most), kind, full=of_gpu))
        drawn = bars("Peak memory", rows) if rows else ""
        return Markup(drawn) + self._memory_over_time()  # noqa: S704

    def _memory_over_time(self) -> Markup:
        held = self.run.memory
        series = [("GPU, reserved", held.gpu_points, "c0"), ("host memory", held.host_points, "c2")]
        drawn = tuple(Line(label, _points(points), kind) for label, points, kind in series if len(points) > 1)
        if not drawn:
            return Markup()
        unit = bytes_(max(y for line in drawn for _, y in line.points))
        plot = Plot("Memory over time", "seconds since the start", unit.of, unit.size, drawn)
        return Markup(lines(plot))  # noqa: S704

    @cached_property
    def steps(self) -> tuple[tuple[str, Markup], ...]:
        """Text and plot of each loop. The first step is drawn separately, because it may compile kernels."""
        return tuple((runs.steps(item), _steps(item)) for item in self.run.steps)

    @property
    def artifacts(self) -> tuple[ArtifactView, ...]:
        """The artifacts, invalid ones first."""
        views = [ArtifactView(item) for item in self.run.artifacts]
        return tuple(sorted(views, key=lambda view: (view.item.outcome == "ok", view.item.path)))


def views(found: tuple[ReportedRun, ...], port: Evidence | None = None) -> tuple[RunView, ...]:
    """Newest first; `port` is the evidence of the port that the runs belong to."""
    newest = {item.run.name: item.folder for item in found}
    return tuple(
        RunView(
            item,
            later=newest[item.run.name] if newest[item.run.name] != item.folder else "",
            remark=_remark(item, port) if port is not None else "",
        )
        for item in reversed(found)
    )


def summed_up(found: tuple[RunView, ...]) -> str:
    """The runs in one sentence; the latest run of each name counts."""
    current = [view for view in found if not view.later]
    good = sum(view.item.is_good for view in current)
    whole = sum(not view.item.chain.missing for view in current)
    on_amd = sum(bool(view.run.manifest.rocm and view.run.manifest.gfx) for view in current)
    chains = f"{whole or 'none'} with a complete chain of evidence, {on_amd or 'none'} on an AMD GPU"
    return f"{good} of {len(current)} recorded runs ended as expected, {chains}."


def worst(found: tuple[RunView, ...]) -> str:
    """The tone of the worst current run; "not_run" without runs."""
    tones = {view.tone for view in found if not view.later} or {"not_run"}
    return next(tone for tone in ("failed", "not_run", "passed") if tone in tones)


def _remark(item: ReportedRun, port: Evidence) -> str:
    """Whether the run was sealed with the port, and whether the code has changed since."""
    known = {run.folder: run for run in port.sealed_runs}.get(item.folder)
    if known is None:
        return "Recorded after the last verification, so no check covers it. Run `rocm3d verify` again."
    if known.of_these_sources is False:
        return "The code has changed since this run, so it does not count for the current code."
    return ""


def _kernel_bars(found: list[tuple[tuple[str, str], float]]) -> list[Bar]:
    """One colour per operation; the backends with the least time share the last bar."""
    whole = sum(taken for _, taken in found)
    if not whole:
        return []
    most = found[0][1]
    unit, operations = seconds(most / 1e6), list(dict.fromkeys(operation for (operation, _), _ in found))

    def bar(label: str, taken: float, kind: str) -> Bar:
        return Bar(label, f"{unit.of(taken / 1e6)} \N{MIDDLE DOT} {_percent(taken / whole)}", taken / most, kind)

    rows = []
    for (operation, backend), taken in found[:_BARS]:
        kind = "unknown" if backend == NOT_KNOWN else f"c{operations.index(operation) % _COLOURS}"
        rows.append(bar(f"{operation}: {backend}", taken, kind))
    rest = sum(taken for _, taken in found[_BARS:])
    return [*rows, bar(f"{len(found) - _BARS} others", rest, "unknown")] if rest else rows


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.005 else "under 1%"


def _points(points: tuple[MemoryPoint, ...]) -> tuple[tuple[float, float], ...]:
    return tuple((point.seconds, float(point.bytes)) for point in points)


def _steps(item: Steps) -> Markup:
    steady = item.steady_seconds
    others = [(1.0 + number * item.every, value) for number, value in enumerate(item.points)][1:]
    if len(others) < 2 or steady is None:
        return Markup()
    unit = seconds(max(*(value for _, value in others), 1e-9))
    first = seconds(max(item.first_seconds, 1e-9)).of(item.first_seconds)
    note = f"{plain(item.first_seconds / steady)} x median" if steady > 0 else "own scale"
    plot = Plot(
        f"Seconds of each step, {item.kind}",
        "step",
        unit.of,
        unit.size,
        (Line("later steps", tuple(others), "c0"),),
        (steady, f"median {seconds(max(steady, 1e-9)).of(steady)}"),
        Apart("first step", first, note),
    )
    return Markup(lines(plot))  # noqa: S704
