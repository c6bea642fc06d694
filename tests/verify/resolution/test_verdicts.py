from __future__ import annotations

import pytest

from rocm3d.verify.probe import Probe
from rocm3d.verify.resolution.resolver import DependencyEdge, Resolution, ResolutionProblem, ResolvedPackage
from rocm3d.verify.resolution.session import SetResolution, find_resolver, open_session
from rocm3d.verify.resolution.sets import ExcludedRequirement, PreparedSet, RequirementLine
from rocm3d.verify.resolution.verdicts import excluded_verdicts, set_verdicts

PROBE = Probe("p", "resolve", lambda case: ())


@pytest.fixture
def resolver_session(knowledge, stack, no_index_settings):
    with open_session(find_resolver("uv"), stack, knowledge, "linux") as opened:
        yield opened


def make_resolution(*packages: ResolvedPackage, edges=(), problem=None, excluded=()) -> SetResolution:
    return SetResolution(
        PreparedSet("r.txt", (RequirementLine("a", "a"),)), Resolution(packages, tuple(edges), problem), tuple(excluded)
    )


@pytest.mark.parametrize("kind", ["unreachable", "build", "time-out", "other"])
def test_problems_other_than_conflicts_are_not_run(resolver_session, kind):
    (result,) = set_verdicts(PROBE, make_resolution(problem=ResolutionProblem(kind, "why")), resolver_session)

    assert (result.outcome, result.reason) == ("not_run", f"r.txt: {kind}: why")


def test_a_conflict_outside_the_stack_has_the_resolvers_text(resolver_session):
    (result,) = set_verdicts(
        PROBE, make_resolution(problem=ResolutionProblem("conflict", "numpy and numpy")), resolver_session
    )

    assert (result.outcome, result.reason) == ("failed", "r.txt: numpy and numpy")


def test_a_conflict_with_the_stack_has_the_dependency_chain(resolver_session):
    edges = [DependencyEdge("", "", "a"), DependencyEdge("a", "1", "torch", "==2.1")]

    (result,) = set_verdicts(
        PROBE, make_resolution(edges=edges, problem=ResolutionProblem("conflict", "long story")), resolver_session
    )

    assert result.reason == "r.txt: a -> torch==2.1"


def test_each_excluded_requirement_has_its_own_verdict(resolver_session):
    excluded = [
        ExcludedRequirement("x", "no way"),
        ExcludedRequirement("y", "no way"),
        ExcludedRequirement("x", "no way"),
    ]

    assert [item.reason for item in excluded_verdicts(PROBE, excluded)] == ["x: no way", "y: no way"]
    assert [
        item.outcome
        for item in set_verdicts(PROBE, make_resolution(ResolvedPackage("a", "1"), excluded=excluded), resolver_session)
    ] == [
        "passed",
        "not_run",
        "not_run",
    ]


def test_source_builds_are_listed(resolver_session):
    (result,) = set_verdicts(
        PROBE, make_resolution(ResolvedPackage("a", "1"), ResolvedPackage("b", "2", is_source=True)), resolver_session
    )

    assert "no wheel, built from source: b 2" in result.looked_at


def test_what_the_stack_has_is_not_counted(resolver_session):
    (result,) = set_verdicts(
        PROBE, make_resolution(ResolvedPackage("a", "1"), ResolvedPackage("torch", "2.6.0+rocm6.4.3")), resolver_session
    )

    assert result.looked_at[0].startswith(
        "r.txt: 1 package, 0.0 MB, none of CUDA, 1 of unknown size, in addition to the stack"
    )


def test_an_empty_set_has_no_verdict(resolver_session):
    nothing = SetResolution(PreparedSet("r.txt", ()), Resolution(), (ExcludedRequirement("x", "no way"),))

    assert [(item.outcome, item.reason) for item in set_verdicts(PROBE, nothing, resolver_session)] == [
        ("not_run", "x: no way")
    ]
