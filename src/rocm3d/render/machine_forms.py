"""Console forms of toolchains, smoke tests, golden comparisons and inspected binaries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.text import Text

from rocm3d.model.golden import GoldenComparison
from rocm3d.model.inspection import Inspection
from rocm3d.model.look import Smoke
from rocm3d.model.toolchain import Toolchains
from rocm3d.render import looks
from rocm3d.render.cleaning import clean
from rocm3d.render.forms import closing, parts

if TYPE_CHECKING:
    from rich.console import RenderableType

_SEEN = {"accelerated": "green", "fallback": "bold red", "broken": "bold red", "absent": "dim", "not_run": "yellow"}


@parts.register(Toolchains)
def _toolchains(document: Toolchains) -> Iterable[RenderableType]:
    for item in document.found:
        if item.lacks:
            yield Text.assemble((f"{item.kind:7} ", "dim"), f"{clean(item.title)}: {clean(item.lacks)}")
            continue
        headers = "" if item.headers == "real" else f"; headers are {item.headers}"
        torch = f"; torch {item.torch} headers" if item.torch else ""
        targets = f"; read back: {', '.join(item.targets)}" if item.targets else ""
        yield Text.assemble((f"{item.kind:7} ", "green"), f"{clean(item.title)}{headers}{torch}{targets}")


@closing.register(Toolchains)
def _toolchains_closing(document: Toolchains) -> Iterable[RenderableType]:
    usable = [item.kind for item in document.found if not item.lacks]
    yield Text(f"selected: {usable[0]}" if usable else "no compiler for AMD targets found")


@parts.register(Smoke)
def _smoke(document: Smoke) -> Iterable[RenderableType]:
    for suite in document.suites:
        yield Text.assemble((suite.suite, "bold"), f": {suite.title}")
        for look in suite.looks:
            outcome = (f"{look.outcome:11}", _SEEN.get(look.outcome, ""))
            yield Text.assemble("  ", outcome, f" {look.label}: {clean(looks.seen(look))}")
            yield from (Text(f"    {clean(line)}", style="dim") for line in looks.details(look))


@closing.register(Smoke)
def _smoke_closing(document: Smoke) -> Iterable[RenderableType]:
    yield Text(looks.totals(document))


@parts.register(GoldenComparison)
def _golden(document: GoldenComparison) -> Iterable[RenderableType]:
    for item in document.tensors:
        outcome = ("agrees ", "green") if item.agrees else ("differs", "bold red")
        yield Text.assemble(outcome, f" {clean(item.name)}: {clean(looks.compared(item))}")


@closing.register(GoldenComparison)
def _golden_closing(document: GoldenComparison) -> Iterable[RenderableType]:
    wrong = sum(not item.agrees for item in document.tensors)
    yield Text(f"{len(document.tensors)} tensors, {wrong} differ")


@parts.register(Inspection)
def _inspection(document: Inspection) -> Iterable[RenderableType]:
    for item in document.binaries:
        yield Text.assemble((clean(item.path), "bold"), f": {_DEVICE[item.device]}")
        for target in item.targets:
            waves = " and ".join(str(size) for size in target.wave_sizes)
            about = f"{target.kernels} kernels" + (f", waves of {waves} lanes" if waves else "")
            about += f", {target.empty_kernels} empty" if target.empty_kernels else ""
            about += f", {target.spilling_kernels} spilling registers" if target.spilling_kernels else ""
            yield Text(f"  {':'.join((target.gfx, *target.features))}: {about}")
        if item.cuda:
            yield Text(f"  {' '.join(item.cuda)}")
        wants = [f"Python {item.python}"] if item.python else []
        wants += ["torch"] if item.uses_torch else []
        wants += [] if item.cxx11_abi is None else [f"C++11 ABI {'on' if item.cxx11_abi else 'off'}"]
        wants += [clean(name) for name in item.libraries]
        if wants:
            yield Text(f"  requires: {', '.join(wants)}", style="dim")
        yield from (Text(f"  {clean(note)}", style="yellow") for note in item.notes)


_DEVICE = {
    "amd": "AMD device code",
    "cuda": "CUDA device code only",
    "amd and cuda": "AMD and CUDA device code",
    "none": "no device code: CPU only",
    "unknown": "device code in an unknown format",
}


@closing.register(Inspection)
def _inspection_closing(document: Inspection) -> Iterable[RenderableType]:
    targets = f" for {', '.join(document.gfx)}" if document.gfx else ""
    required = f"; requires {', '.join(clean(text) for text in document.requires)}" if document.requires else ""
    yield Text(f"{clean(document.distribution or document.name)}: {_DEVICE[document.device]}{targets}{required}")
