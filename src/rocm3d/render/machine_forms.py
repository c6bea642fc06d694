"""Console forms of toolchains, smoke tests, golden comparisons and inspected binaries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.text import Text

from rocm3d.model.backend_check import GoldenComparison, Smoke
from rocm3d.model.counted import counted
from rocm3d.model.toolchain import Inspection, Toolchains
from rocm3d.render import backend_check_text
from rocm3d.render.console_forms import document_lines, summary_lines
from rocm3d.render.sanitize import clean

if TYPE_CHECKING:
    from rich.console import RenderableType

_OUTCOME_STYLE = {
    "accelerated": "green",
    "fallback": "bold red",
    "broken": "bold red",
    "absent": "dim",
    "not_run": "yellow",
}


@document_lines.register(Toolchains)
def _toolchains(document: Toolchains) -> Iterable[RenderableType]:
    for item in document.found:
        if item.lacks:
            yield Text.assemble((f"{item.kind:7} ", "dim"), f"{clean(item.title)}: {clean(item.lacks)}")
            continue
        headers = "" if item.headers == "real" else f"; headers are {item.headers}"
        torch = f"; torch {item.torch} headers" if item.torch else ""
        targets = f"; read back: {', '.join(item.targets)}" if item.targets else ""
        yield Text.assemble((f"{item.kind:7} ", "green"), f"{clean(item.title)}{headers}{torch}{targets}")


@summary_lines.register(Toolchains)
def _toolchains_closing(document: Toolchains) -> Iterable[RenderableType]:
    usable = [item.kind for item in document.found if not item.lacks]
    yield Text(f"selected: {usable[0]}" if usable else "no compiler for AMD targets found")


@document_lines.register(Smoke)
def _smoke(document: Smoke) -> Iterable[RenderableType]:
    for suite in document.suites:
        yield Text.assemble((suite.suite, "bold"), f": {suite.title}")
        for result in suite.looks:
            outcome = (f"{result.outcome:11}", _OUTCOME_STYLE.get(result.outcome, ""))
            yield Text.assemble("  ", outcome, f" {result.label}: {clean(backend_check_text.summary_line(result))}")
            yield from (Text(f"    {clean(line)}", style="dim") for line in backend_check_text.detail_lines(result))


@summary_lines.register(Smoke)
def _smoke_closing(document: Smoke) -> Iterable[RenderableType]:
    yield Text(backend_check_text.totals(document))


@document_lines.register(GoldenComparison)
def _golden(document: GoldenComparison) -> Iterable[RenderableType]:
    for item in document.tensors:
        outcome = ("agrees ", "green") if item.agrees else ("differs", "bold red")
        yield Text.assemble(outcome, f" {clean(item.name)}: {clean(backend_check_text.tensor_line(item))}")


@summary_lines.register(GoldenComparison)
def _golden_closing(document: GoldenComparison) -> Iterable[RenderableType]:
    differing = sum(not item.agrees for item in document.tensors)
    yield Text(f"{counted(len(document.tensors), 'tensor')}, {differing} differ")


@document_lines.register(Inspection)
def _inspection(document: Inspection) -> Iterable[RenderableType]:
    for item in document.binaries:
        yield Text.assemble((clean(item.path), "bold"), f": {_DEVICE_TEXT[item.device]}")
        for target in item.targets:
            waves = " and ".join(str(size) for size in target.wave_sizes)
            kernels = f"{target.kernels} kernels" + (f", waves of {waves} lanes" if waves else "")
            kernels += f", {target.empty_kernels} empty" if target.empty_kernels else ""
            kernels += f", {target.spilling_kernels} spilling registers" if target.spilling_kernels else ""
            yield Text(f"  {':'.join((target.gfx, *target.features))}: {kernels}")
        if item.cuda:
            yield Text(f"  {' '.join(item.cuda)}")
        requirements = [f"Python {item.python}"] if item.python else []
        requirements += ["torch"] if item.uses_torch else []
        requirements += [] if item.cxx11_abi is None else [f"C++11 ABI {'on' if item.cxx11_abi else 'off'}"]
        requirements += [clean(name) for name in item.libraries]
        if requirements:
            yield Text(f"  requires: {', '.join(requirements)}", style="dim")
        yield from (Text(f"  {clean(note)}", style="yellow") for note in item.notes)


_DEVICE_TEXT = {
    "amd": "AMD device code",
    "cuda": "CUDA device code only",
    "amd and cuda": "AMD and CUDA device code",
    "none": "no device code: CPU only",
    "unknown": "device code in an unknown format",
}


@summary_lines.register(Inspection)
def _inspection_closing(document: Inspection) -> Iterable[RenderableType]:
    targets = f" for {', '.join(document.gfx)}" if document.gfx else ""
    required = f"; requires {', '.join(clean(text) for text in document.requires)}" if document.requires else ""
    yield Text(f"{clean(document.distribution or document.name)}: {_DEVICE_TEXT[document.device]}{targets}{required}")
