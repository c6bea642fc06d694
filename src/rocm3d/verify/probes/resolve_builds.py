"""Resolves the build requirements of every source build. A build that needs torch must not run in isolation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from packaging.utils import canonicalize_name

from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe
from rocm3d.verify.resolution.build_source import read_build_requirements
from rocm3d.verify.resolution.builds import (
    NO_BUILD_ISOLATION,
    SourceBuild,
    build_of_distribution,
    build_of_git_line,
    builds_of_command,
    install_commands,
)
from rocm3d.verify.resolution.session import ResolverSession, in_session
from rocm3d.verify.resolution.sets import MAX_SETS, PreparedSet, port_sets, prepare
from rocm3d.verify.resolution.verdicts import set_verdicts


@in_session
def attempt(case: Case, session: ResolverSession) -> Iterator[Verdict]:
    """Builds of the plan, and distributions of the port's requirements that have no wheel."""
    builds = [*_planned_builds(case, session), *_transitive_builds(case, session)]
    if not builds:
        yield probe.verdict("skipped", "nothing is built from source")
    for build in builds:
        yield from _verdicts_of_build(build, session)


def _planned_builds(case: Case, session: ResolverSession) -> Iterator[SourceBuild]:
    for item in install_commands(case.plan):
        if item.decision.decision == "build":
            yield from builds_of_command(item, case.tree, session)
    for decision in case.plan.decisions:
        if decision.decision == "build" and not decision.commands:
            yield SourceBuild(
                decision.name, unavailable_reason="the plan has no build command for it: build it by hand"
            )


def _transitive_builds(case: Case, session: ResolverSession) -> Iterator[SourceBuild]:
    """Distributions without a wheel, and those whose metadata needs a build."""
    names: dict[str, str] = {}
    for requirement_set in port_sets(case)[:MAX_SETS]:
        set_resolution = session.resolve_on_stack(prepare(requirement_set, session.web))
        names |= {
            item.name: f"{item.name}=={item.version}" for item in set_resolution.resolution.packages if item.is_source
        }
        direct_requirements = {line.name: line.text for line in requirement_set.lines}
        names |= {
            item.name: direct_requirements[item.name]
            for item in set_resolution.excluded
            if item.name in direct_requirements
        }
        for line in requirement_set.lines:
            build = build_of_git_line(line, session)
            if build is not None:
                names.pop(line.name, None)
                # Outside the port's folder install.sh builds it, and install.sh checks what the build requires.
                yield replace(build, open=not requirement_set.source.startswith(f"{case.patch.folder}/"))
    for name, text in names.items():
        yield build_of_distribution(name, text, session)


def _verdicts_of_build(build: SourceBuild, session: ResolverSession) -> Iterator[Verdict]:
    if build.unavailable_reason:
        yield probe.verdict("not_run", f"{build.name}: {build.unavailable_reason}")
        return
    if build.wheel:
        yield _wheel_verdict(build)
        return
    needs = read_build_requirements(build.files)
    modules = {name for package in session.base.packages for name in session.knowledge.packages[package].imports}
    base_use = needs.describe_use(session.base.versions, modules)
    if base_use and not build.open:
        origin = build.how or "the requirements file"
        yield probe.verdict(
            "failed",
            f"{build.name}: {base_use}, but {origin} does not pass {NO_BUILD_ISOLATION}",
            [build.name],
        )
        return
    prepared = PreparedSet(f"build requirements of {canonicalize_name(build.name)}", needs.lines)
    yield from set_verdicts(probe, session.resolve_on_stack(prepared), session)


def _wheel_verdict(build: SourceBuild) -> Verdict:
    """pip takes this wheel instead of building. That is correct only if the wheel has no compiled code."""
    checked = [f"{build.name}: {build.wheel}"]
    if build.wheel.endswith("-none-any.whl"):
        return probe.verdict("passed", "", checked)
    reason = f"{build.name}: pip would install the compiled {build.wheel} from the index instead of building"
    return probe.verdict("failed", reason, checked)


probe = Probe(__name__, "resolve", attempt, needs_network=True)
