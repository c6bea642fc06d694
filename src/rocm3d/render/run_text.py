"""Recorded runs, evidence bundles and their differences as lines and table rows, shared by all text formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocm3d.model.counted import counted
from rocm3d.render.grouping import group_by

if TYPE_CHECKING:
    from rocm3d.model.bundle import AlteredFile, BundleCheck, DiffRow, EvidenceDiff, Link
    from rocm3d.model.run import RunRecord, Steps

MIB = 1024 * 1024
_MAX_KERNELS = 5
_ALTERATION_TEXT = {
    "changed": "changed since it was sealed",
    "missing": "missing",
    "added": "not part of the bundle",
    "link": "a link or device in place of a file",
}
DIFF_HEADER = ("", "A", "B", "change")


def run_lines(run: RunRecord) -> Iterator[tuple[str, str]]:
    """Label and text, most important first."""
    yield "ran on", hardware_text(run)
    for operation, labels in run.backends.items():
        if operation != "copy":
            yield operation, ", ".join(labels)
    yield from (("kernel", _kernel_text(run, number)) for number in range(min(_MAX_KERNELS, len(run.kernels))))
    yield from (("module", f"{item.name} {item.version} ({item.file})") for item in run.modules)
    yield from (("substitute", f"{item.name}: {item.stands_in}") for item in run.modules if item.stands_in)
    yield from (("fallback", f"{item.module}: {item.reason}, imported at {item.where}") for item in run.fallbacks)
    yield from (("steps", steps_text(item)) for item in run.steps)
    if peak_memory := memory_text(run):
        yield "memory", peak_memory
    for artifact in run.artifacts:
        numbers = ", ".join(f"{name} {value:g}" for name, value in artifact.metrics.items())
        yield "artifact", f"{artifact.path}: {artifact.outcome}: {artifact.reason or numbers}"
    yield from (("missing", f"{item.link}: {item.reason}") for item in run.missing)


def outcome_line(run: RunRecord) -> str:
    """Such as `train: finished after 12.0 s`."""
    return f"{run.name}: {run.status} after {run.seconds:.1f} s{': ' + run.reason if run.reason else ''}"


def steps_text(steps: Steps) -> str:
    """The time of the first step and the median of the others."""
    steady = "" if steps.steady_seconds is None else f", then {steps.steady_seconds * 1000:.3g} ms each"
    return f"{steps.count} of the {steps.kind}: first after {steps.first_seconds:.3g} s{steady}"


def memory_text(run: RunRecord) -> str:
    """Peak GPU and host memory."""
    peaks = ((run.memory.gpu_reserved, "GPU"), (run.memory.host, "host"))
    return ", ".join(f"{size / MIB:.0f} MiB {name}" for size, name in peaks if size is not None)


def hardware_text(run: RunRecord) -> str:
    """GPU, torch version and build."""
    manifest = run.manifest
    gpu = f"{manifest.gpu}{f' ({manifest.gfx})' if manifest.gfx else ''}" if manifest.gpu else "no GPU"
    build = f"HIP {manifest.rocm}" if manifest.rocm else f"CUDA {manifest.cuda}" if manifest.cuda else "CPU build"
    return f"{gpu}, torch {manifest.torch} ({build})" if manifest.torch else f"{gpu}, without torch"


def _kernel_text(run: RunRecord, number: int) -> str:
    entry, total = run.kernels[number], sum(kernel.microseconds for kernel in run.kernels)
    name = entry.name if len(entry.name) <= 60 else f"{entry.name[:57]}..."
    return (
        f"{round(100 * entry.microseconds / total)}% {entry.backend}: {name} ({entry.calls} calls)" if total else name
    )


def altered_text(altered: AlteredFile) -> str:
    """Such as `log.txt: changed since it was sealed`."""
    return f"{altered.path}: {_ALTERATION_TEXT[altered.how]}"


def check_summary(document: BundleCheck) -> str:
    """The outcome in one line."""
    if document.altered:
        return f"{document.bundle} was changed after it was sealed; files affected: {len(document.altered)}"
    return (
        f"{document.bundle} is unchanged: {counted(document.sealed, 'file')}; sha256 of evidence.json {document.sha256}"
    )


def chain_links(document: BundleCheck) -> Iterator[tuple[str, Link]]:
    """All links, each with the name of its run."""
    return ((chain.run or "no run", link) for chain in document.chains for link in chain.links)


def link_text(link: Link) -> str:
    """The content of a link, or why it is missing."""
    return link.what if link.there else f"missing: {link.what}"


def link_rows(document: EvidenceDiff) -> Iterator[tuple[str, str, str]]:
    """The chains of both sides, link by link."""
    return ((pair.link, link_text(pair.a), link_text(pair.b)) for pair in document.links)


def differing_sections(document: EvidenceDiff) -> dict[str, list[DiffRow]]:
    """Rows by section; equal rows are left out."""
    return group_by((row for row in document.rows if row.differs), lambda row: row.section)


def row_cells(row: DiffRow) -> tuple[str, str, str, str]:
    """A dash for a side without a value."""
    return row.name, row.a or "-", row.b or "-", row.change


def diff_summary(document: EvidenceDiff) -> str:
    """The outcome in one line."""
    differ = sum(row.differs for row in document.rows)
    worse = f"; worse in B: {len(document.worse)}" if document.worse else "; B is not worse than A"
    return f"{differ} of {len(document.rows)} rows differ{worse}"
