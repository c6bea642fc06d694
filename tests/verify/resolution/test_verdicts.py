from __future__ import annotations

import pytest

from rocm3d.verify.resolution.answer import Edge, Problem, Resolution, Resolved
from rocm3d.verify.resolution.prepare import Aside, Prepared
from rocm3d.verify.resolution.remembered import Remembered
from rocm3d.verify.resolution.session import Asked, resolver_named, session
from rocm3d.verify.resolution.sets import Line
from rocm3d.verify.resolution.verdicts import judged, set_aside


@pytest.fixture
def here(knowledge, stack, no_settings):
    with session(Remembered(resolver_named("uv"), {}), stack, knowledge, "linux") as opened:
        yield opened


def asked(*packages: Resolved, edges=(), problem=None, aside=()) -> Asked:
    return Asked(Prepared("r.txt", (Line("a", "a"),)), Resolution(packages, tuple(edges), problem), tuple(aside))


@pytest.mark.parametrize("kind", ["unreachable", "build", "time-out", "other"])
def test_what_could_not_be_looked_at_is_not_run_and_no_failure(here, kind):
    (found,) = judged("p", asked(problem=Problem(kind, "why")), here)

    assert (found.outcome, found.reason) == ("not_run", f"r.txt: {kind}: why")


def test_a_conflict_without_a_culprit_is_told_as_the_resolver_tells_it(here):
    (found,) = judged("p", asked(problem=Problem("conflict", "numpy and numpy")), here)

    assert (found.outcome, found.reason) == ("failed", "r.txt: numpy and numpy")


def test_a_conflict_about_the_stack_names_who_asked(here):
    edges = [Edge("", "", "a"), Edge("a", "1", "torch", "==2.1")]

    (found,) = judged("p", asked(edges=edges, problem=Problem("conflict", "long story")), here)

    assert found.reason == "r.txt: a -> torch==2.1"


def test_each_that_was_set_aside_has_its_own_verdict(here):
    aside = [Aside("x", "no way"), Aside("y", "no way"), Aside("x", "no way")]

    assert [item.reason for item in set_aside("p", aside)] == ["x: no way", "y: no way"]
    assert [item.outcome for item in judged("p", asked(Resolved("a", "1"), aside=aside), here)] == [
        "passed",
        "not_run",
        "not_run",
    ]


def test_source_is_named(here):
    (found,) = judged("p", asked(Resolved("a", "1"), Resolved("b", "2", is_source=True)), here)

    assert "no wheel, built from source: b 2" in found.looked_at


def test_what_the_stack_has_is_not_counted(here):
    (found,) = judged("p", asked(Resolved("a", "1"), Resolved("torch", "2.6.0+rocm6.4.3")), here)

    assert found.looked_at[0].startswith(
        "r.txt: 1 package, 0.0 MB, none of CUDA, 1 of unknown size, in addition to the stack"
    )


def test_a_set_of_which_nothing_is_left_is_not_judged(here):
    nothing = Asked(Prepared("r.txt", ()), Resolution(), (Aside("x", "no way"),))

    assert [(item.outcome, item.reason) for item in judged("p", nothing, here)] == [("not_run", "x: no way")]
