"""A recorded run as the HTML report shows it: facts, charts of kernels, memory and steps, and artifacts."""

from __future__ import annotations

import shlex
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from markupsafe import Markup

from rocm3d.model.counted import counted
from rocm3d.render import run_text
from rocm3d.render.artifact_view import ArtifactView
from rocm3d.render.charts.bars import Bar, bar_chart
from rocm3d.render.charts.lines import ChartLine, Plot, SeparateValue, line_chart
from rocm3d.render.charts.scale import format_number, size_unit, time_unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.bundle import ReportedRun
    from rocm3d.model.evidence import Evidence
    from rocm3d.model.run import MemoryPoint, RunRecord, Steps

_MAX_BARS, _COLOUR_COUNT = 12, 6
UNKNOWN_BACKEND = "not known by name"


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
        if not self.item.is_good or self._invalid_artifacts:
            return "failed"
        return "not_run" if self.item.chain.missing or self.remark or self._substitutes else "passed"

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
        parts += (
            [f"{self._invalid_artifacts} of {len(run.artifacts)} artifacts are invalid"]
            if self._invalid_artifacts
            else []
        )
        parts += [f"missing evidence: {missing}"] if missing else []
        parts += [f"substitutes ran: {', '.join(self._substitutes)}"] if self._substitutes else []
        return f"{'; '.join(parts)}."

    @property
    def _invalid_artifacts(self) -> int:
        return sum(item.outcome == "bad" for item in self.run.artifacts)

    @property
    def _substitutes(self) -> list[str]:
        return [item.name for item in self.run.modules if item.stands_in]

    @property
    def facts(self) -> Iterator[tuple[str, str]]:
        """Label and value of what is known about the run; unknown values are left out."""
        run, held = self.run, self.run.manifest
        yield "Ran on", run_text.hardware_text(run)
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
        return f"{held.commit} with {counted(len(held.dirty), 'uncommitted change')}: {', '.join(held.dirty[:5])}"

    @cached_property
    def kernels(self) -> Markup:
        """A bar chart of kernel time by backend; empty without kernels."""
        times: dict[tuple[str, str], float] = defaultdict(float)
        for kernel in self.run.kernels:
            times[kernel.operation, kernel.backend] += max(0.0, kernel.microseconds)
        rows = _kernel_bars(sorted(times.items(), key=lambda item: -item[1]))
        return Markup(bar_chart("Kernel time by backend", rows)) if rows else Markup()  # noqa: S704  (drawn by us)

    @property
    def busy(self) -> str:
        """How much of the run the bars cover."""
        busy = sum(kernel.microseconds for kernel in self.run.kernels) / 1e6
        calls = sum(kernel.calls for kernel in self.run.kernels)
        profiled_seconds = self.run.profiled_seconds
        return (
            f"{calls:,} calls of {len(self.run.kernels)} kernels: {format_number(busy)} s of GPU time "
            f"in {format_number(profiled_seconds)} s profiled, of {format_number(self.run.seconds)} s in total. "
            "Kernels outside the profiled time are not included."
        )

    @cached_property
    def memory(self) -> Markup:
        """Peak memory, and memory over time if it was recorded."""
        held, rows = self.run.memory, list[Bar]()
        gpu_bytes = self.run.manifest.gpu_bytes
        most = max(value or 0 for value in (held.gpu_reserved, held.gpu_allocated, held.host)) or 1
        for label, value, kind in (
            ("GPU, reserved", held.gpu_reserved, "c0"),
            ("GPU, in tensors", held.gpu_allocated, "c1"),
            ("host memory", held.host, "c2"),
        ):
            if value is None:
                continue
            of_gpu = bool(gpu_bytes) and label.startswith("GPU")
            text = size_unit(value).format(value) + (f" of {size_unit(gpu_bytes).format(gpu_bytes)}" if of_gpu else "")
            rows.append(Bar(label, text, value / (gpu_bytes if of_gpu else most), kind, has_track=of_gpu))
        drawn = bar_chart("Peak memory", rows) if rows else ""
        return Markup(drawn) + self._memory_over_time()  # noqa: S704

    def _memory_over_time(self) -> Markup:
        held = self.run.memory
        series = [("GPU, reserved", held.gpu_points, "c0"), ("host memory", held.host_points, "c2")]
        drawn = tuple(
            ChartLine(label, _memory_points(points), kind) for label, points, kind in series if len(points) > 1
        )
        if not drawn:
            return Markup()
        unit = size_unit(max(y for line in drawn for _, y in line.points))
        plot = Plot("Memory over time", "seconds since the start", unit.format, unit.size, drawn)
        return Markup(line_chart(plot))  # noqa: S704

    @cached_property
    def steps(self) -> tuple[tuple[str, Markup], ...]:
        """Text and plot of each loop. The first step is drawn separately, because it may compile kernels."""
        return tuple((run_text.steps_text(item), _step_plot(item)) for item in self.run.steps)

    @property
    def artifacts(self) -> tuple[ArtifactView, ...]:
        """The artifacts, invalid ones first."""
        views = [ArtifactView(item) for item in self.run.artifacts]
        return tuple(sorted(views, key=lambda view: (view.item.outcome == "ok", view.item.path)))


def run_views(joined_runs: tuple[ReportedRun, ...], port: Evidence | None = None) -> tuple[RunView, ...]:
    """Newest first; `port` is the evidence of the port that the runs belong to."""
    newest = {item.run.name: item.folder for item in joined_runs}
    return tuple(
        RunView(
            item,
            later=newest[item.run.name] if newest[item.run.name] != item.folder else "",
            remark=_remark(item, port) if port is not None else "",
        )
        for item in reversed(joined_runs)
    )


def runs_summary(run_views: tuple[RunView, ...]) -> str:
    """The runs in one sentence; the latest run of each name counts."""
    current = [view for view in run_views if not view.later]
    good = sum(view.item.is_good for view in current)
    complete = sum(not view.item.chain.missing for view in current)
    on_amd = sum(bool(view.run.manifest.rocm and view.run.manifest.gfx) for view in current)
    chains = f"{complete or 'none'} with a complete chain of evidence, {on_amd or 'none'} on an AMD GPU"
    return f"{good} of {len(current)} recorded runs ended as expected, {chains}."


def worst_tone(run_views: tuple[RunView, ...]) -> str:
    """The tone of the worst current run; "not_run" without runs."""
    tones = {view.tone for view in run_views if not view.later} or {"not_run"}
    return next(tone for tone in ("failed", "not_run", "passed") if tone in tones)


def _remark(joined: ReportedRun, port: Evidence) -> str:
    """Whether the run was sealed with the port, and whether the code has changed since."""
    known = {run.folder: run for run in port.sealed_runs}.get(joined.folder)
    if known is None:
        return "Recorded after the last verification, so no check covers it. Run `rocm3d verify` again."
    if known.of_these_sources is False:
        return "The code has changed since this run, so it does not count for the current code."
    return ""


def _kernel_bars(times: list[tuple[tuple[str, str], float]]) -> list[Bar]:
    """One colour per operation; the backends with the least time share the last bar."""
    total = sum(microseconds for _, microseconds in times)
    if not total:
        return []
    most = times[0][1]
    unit, operations = time_unit(most / 1e6), list(dict.fromkeys(operation for (operation, _), _ in times))

    def bar(label: str, microseconds: float, kind: str) -> Bar:
        return Bar(
            label,
            f"{unit.format(microseconds / 1e6)} \N{MIDDLE DOT} {_format_share(microseconds / total)}",
            microseconds / most,
            kind,
        )

    rows = []
    for (operation, backend), microseconds in times[:_MAX_BARS]:
        kind = "unknown" if backend == UNKNOWN_BACKEND else f"c{operations.index(operation) % _COLOUR_COUNT}"
        rows.append(bar(f"{operation}: {backend}", microseconds, kind))
    others = sum(microseconds for _, microseconds in times[_MAX_BARS:])
    return [*rows, bar(f"{len(times) - _MAX_BARS} others", others, "unknown")] if others else rows


def _format_share(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.005 else "under 1%"


def _memory_points(points: tuple[MemoryPoint, ...]) -> tuple[tuple[float, float], ...]:
    return tuple((point.seconds, float(point.bytes)) for point in points)


def _step_plot(steps: Steps) -> Markup:
    steady = steps.steady_seconds
    others = [(1.0 + number * steps.every, value) for number, value in enumerate(steps.points)][1:]
    if len(others) < 2 or steady is None:
        return Markup()
    unit = time_unit(max(*(value for _, value in others), 1e-9))
    first = time_unit(max(steps.first_seconds, 1e-9)).format(steps.first_seconds)
    note = f"{format_number(steps.first_seconds / steady)} x median" if steady > 0 else "own scale"
    plot = Plot(
        f"Seconds of each step, {steps.kind}",
        "step",
        unit.format,
        unit.size,
        (ChartLine("later steps", tuple(others), "c0"),),
        (steady, f"median {time_unit(max(steady, 1e-9)).format(steady)}"),
        SeparateValue("first step", first, note),
    )
    return Markup(line_chart(plot))  # noqa: S704
