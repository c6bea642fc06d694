"""A recorded run as reports show it: facts, charts of kernels, memory and steps, and artifacts with their pictures."""

from __future__ import annotations

import base64
import binascii
import shlex
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from markupsafe import Markup

from rocm3d.model.counted import counted
from rocm3d.render import run_text
from rocm3d.render.charts.bars import Bar, bar_chart, histogram
from rocm3d.render.charts.drawing import format_number, size_unit, time_unit
from rocm3d.render.charts.lines import ChartLine, Plot, SeparateValue, line_chart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.artifact import Artifact
    from rocm3d.model.bundle import ReportedRun
    from rocm3d.model.evidence import Evidence
    from rocm3d.model.run import RunRecord, Steps

_MAX_BARS, _COLOUR_COUNT = 12, 6
UNKNOWN_BACKEND = "not known by name"
_PNG = b"\x89PNG\r\n\x1a\n"
# Characters of base64; a page has many pictures.
_MAX_PICTURE_LENGTH = 400_000
_KINDS_WITH_PICTURE = ("splat", "mesh", "points", "image", "video")
_KIND_LABELS = {
    "splat": "Gaussian splat",
    "mesh": "mesh",
    "points": "point cloud",
    "arrays": "arrays",
    "unknown": "file",
}


@dataclass(frozen=True)
class ArtifactView:
    """Properties are used by the templates."""

    item: Artifact

    @property
    def tone(self) -> str:
        """The CSS class. A file that could not be read has not failed."""
        return {"ok": "passed", "bad": "failed", "not_read": "not_run"}[self.item.outcome]

    @property
    def word(self) -> str:
        """The outcome as text."""
        return {"ok": "valid", "bad": "invalid", "not_read": "not read"}[self.item.outcome]

    @property
    def what(self) -> str:
        """Kind, format and size."""
        kind = _KIND_LABELS.get(self.item.kind, self.item.kind)
        size = _format_size(self.item.bytes) if self.item.bytes else "empty or not read"
        return ", ".join(part for part in (kind, self.item.format, size) if part)

    @property
    def picture(self) -> str:
        """A data URL of the PNG, or empty. The content is validated: a bundle is untrusted input."""
        text = self.item.preview.picture
        if not text or len(text) > _MAX_PICTURE_LENGTH:
            return ""
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return ""
        return f"data:image/png;base64,{base64.b64encode(data).decode()}" if data.startswith(_PNG) else ""

    @property
    def no_picture(self) -> str:
        """The text in place of a missing picture."""
        if self.item.outcome != "ok":
            return "No picture: it could not be drawn."
        return (
            "No picture was stored." if self.item.kind in _KINDS_WITH_PICTURE else "No picture for this kind of file."
        )

    @property
    def described(self) -> str:
        """The alternative text of the picture."""
        return f"Preview of {self.item.path}, {self.what}"

    @property
    def opacities(self) -> Markup:
        """A histogram of opacities; empty for other kinds."""
        counts = self.item.preview.histogram
        return Markup(histogram("opacity", counts)) if any(counts) else Markup()  # noqa: S704  (drawn by us)

    @property
    def numbers(self) -> tuple[tuple[str, str], ...]:
        """The metrics, without those of single arrays: these are only in the JSON."""
        metrics = self.item.metrics.items()
        return tuple((name.replace("_", " "), _format_metric(value)) for name, value in metrics if "." not in name)


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
        invalid, missing = self._invalid_artifacts, ", ".join(link.link for link in self.item.chain.missing)
        parts = [
            f"Finished in {run.seconds:.1f} s",
            f"{invalid} of {len(run.artifacts)} artifacts are invalid" if invalid else "",
            f"missing evidence: {missing}" if missing else "",
            f"substitutes ran: {', '.join(self._substitutes)}" if self._substitutes else "",
        ]
        return f"{'; '.join(filter(None, parts))}."

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
        if held.dirty is None:
            return f"{held.commit}; uncommitted changes unknown"
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
        return (
            f"{calls:,} calls of {len(self.run.kernels)} kernels: {format_number(busy)} s of GPU time "
            f"in {format_number(self.run.profiled_seconds)} s profiled, "
            f"of {format_number(self.run.seconds)} s in total. "
            "Kernels outside the profiled time are not included."
        )

    @cached_property
    def memory(self) -> Markup:
        """Peak memory, and memory over time if it was recorded."""
        held, gpu_bytes = self.run.memory, self.run.manifest.gpu_bytes
        most = max(value or 0 for value in (held.gpu_reserved, held.gpu_allocated, held.host)) or 1
        of_gpu = f" of {_format_size(gpu_bytes)}" if gpu_bytes else ""
        rows = [
            Bar(label, f"{_format_size(value)}{total}", value / (gpu_bytes if total else most), kind, bool(total))
            for label, value, kind, total in (
                ("GPU, reserved", held.gpu_reserved, "c0", of_gpu),
                ("GPU, in tensors", held.gpu_allocated, "c1", of_gpu),
                ("host memory", held.host, "c2", ""),
            )
            if value is not None
        ]
        drawn = bar_chart("Peak memory", rows) if rows else ""
        return Markup(drawn) + self._memory_over_time()  # noqa: S704

    def _memory_over_time(self) -> Markup:
        held = self.run.memory
        series = [("GPU, reserved", held.gpu_points, "c0"), ("host memory", held.host_points, "c2")]
        drawn = tuple(
            ChartLine(label, tuple((point.seconds, float(point.bytes)) for point in points), kind)
            for label, points, kind in series
            if len(points) > 1
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

    def kind(operation: str, backend: str) -> str:
        return "unknown" if backend == UNKNOWN_BACKEND else f"c{operations.index(operation) % _COLOUR_COUNT}"

    rows = [bar(": ".join(key), microseconds, kind(*key)) for key, microseconds in times[:_MAX_BARS]]
    others = sum(microseconds for _, microseconds in times[_MAX_BARS:])
    return [*rows, bar(f"{len(times) - _MAX_BARS} others", others, "unknown")] if others else rows


def _format_share(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.005 else "under 1%"


def _format_size(value: float) -> str:
    return size_unit(value).format(value)


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


def _format_metric(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"-{format_number(-value)}" if value < 0 else format_number(value)
