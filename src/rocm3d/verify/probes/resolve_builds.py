"""Resolves the build requirements of every source build. A build that needs torch must not run in isolation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe
from rocm3d.verify.resolution.build_needs import build_needs
from rocm3d.verify.resolution.builds import OPEN, Build, of_git_line, of_install, of_name
from rocm3d.verify.resolution.commands import installs
from rocm3d.verify.resolution.port_sets import MOST, port_sets
from rocm3d.verify.resolution.prepare import Prepared, prepare
from rocm3d.verify.resolution.verdicts import judged, verdict
from rocm3d.verify.resolution.visit import visit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.verify.resolution.session import Session


def attempt(case: Case) -> tuple[Verdict, ...]:
    """Builds of the plan, and distributions of the port's requirements that have no wheel."""
    return visit(case, probe.name, lambda here: _look(case, here))


def _look(case: Case, here: Session) -> Iterator[Verdict]:
    builds = [*_planned(case, here), *_brought(case, here)]
    if not builds:
        yield verdict(probe.name, "skipped", "nothing is built from source")
    for build in builds:
        yield from _of_build(build, here)


def _planned(case: Case, here: Session) -> Iterator[Build]:
    for item in installs(case.plan):
        if item.decision.decision == "build":
            yield from of_install(item, case.tree, here)
    for decision in case.plan.decisions:
        if decision.decision == "build" and not decision.commands:
            yield Build(decision.name, why="the plan has no build command for it: build it by hand")


def _brought(case: Case, here: Session) -> Iterator[Build]:
    """Distributions without a wheel, and those whose metadata needs a build."""
    names: dict[str, str] = {}
    for given in port_sets(case)[:MOST]:
        asked = here.on_base(prepare(given, here.web))
        names |= {item.name: f"{item.name}=={item.version}" for item in asked.resolution.packages if item.is_source}
        named = {line.name: line.text for line in given.lines}
        names |= {item.name: named[item.name] for item in asked.aside if item.name in named}
        for line in given.lines:
            build = of_git_line(line, here)
            if build is not None:
                names.pop(line.name, None)
                # Outside the port's folder install.sh builds it, and install.sh checks what the build requires.
                yield replace(build, open=not given.source.startswith(f"{case.patch.folder}/"))
    for name, text in names.items():
        yield of_name(name, text, here)


def _of_build(build: Build, here: Session) -> Iterator[Verdict]:
    if build.why:
        yield verdict(probe.name, "not_run", f"{build.name}: {build.why}")
        return
    if build.wheel:
        yield _of_wheel(build)
        return
    needs = build_needs(build.files)
    modules = {name for package in here.base.packages for name in here.knowledge.packages[package].imports}
    wants = needs.wants(here.base.versions, modules)
    if wants and not build.open:
        how = build.how or "the requirements file"
        yield verdict(probe.name, "failed", f"{build.name}: {wants}, but {how} does not pass {OPEN}", [build.name])
        return
    given = Prepared(f"build requirements of {canonicalize_name(build.name)}", needs.lines)
    yield from judged(probe.name, here.on_base(given), here)


def _of_wheel(build: Build) -> Verdict:
    """pip takes this wheel instead of building. That is correct only if the wheel has no compiled code."""
    looked = [f"{build.name}: {build.wheel}"]
    if build.wheel.endswith("-none-any.whl"):
        return verdict(probe.name, "passed", "", looked)
    reason = f"{build.name}: pip would install the compiled {build.wheel} from the index instead of building"
    return verdict(probe.name, "failed", reason, looked)


probe = Probe(__name__, "resolve", attempt, asks_servers=True)
