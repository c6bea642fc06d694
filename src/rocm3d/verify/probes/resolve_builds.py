"""Resolves what every source build asks for before it begins; one that wants torch must not be built in isolation."""

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
    """Builds of the plan, and distributions that the port's requirements bring as source."""
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
            yield Build(decision.name, why="the plan has no command for it, so it is a person's to build")


def _brought(case: Case, here: Session) -> Iterator[Build]:
    """Those without a wheel, and those whose metadata only a build tells."""
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
                # Outside of the port's own files it is install.sh that builds it, and that looks what the build wants.
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
        yield verdict(probe.name, "failed", f"{build.name}: {wants}, and {how} has no {OPEN}", [build.name])
        return
    given = Prepared(f"what {canonicalize_name(build.name)} is built with", needs.lines)
    yield from judged(probe.name, here.on_base(given), here)


def _of_wheel(build: Build) -> Verdict:
    """A build that does not happen: harmless only where the wheel holds no compiled code."""
    looked = [f"{build.name}: {build.wheel}"]
    if build.wheel.endswith("-none-any.whl"):
        return verdict(probe.name, "passed", "", looked)
    reason = f"{build.name}: the index has the compiled {build.wheel}, which pip takes instead of building"
    return verdict(probe.name, "failed", reason, looked)


probe = Probe(__name__, "resolve", attempt, asks_servers=True)
