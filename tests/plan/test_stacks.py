from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from rocm3d.model.errors import UserError
from rocm3d.plan.routes import RepositoryConstraints, package_by_distribution
from rocm3d.plan.stacks import PlanOptions, StackCriteria, choose_stack

OLD, NEW = date(2026, 1, 1), date(2026, 11, 1)


def choose(dependencies, knowledge, gpu, stack=None, pinned=None, **options):
    names = package_by_distribution(dependencies, (), knowledge)
    arguments = RepositoryConstraints(options.get("prefer", "stable"), pinned or {})
    return choose_stack(StackCriteria(names, knowledge, gpu, arguments), PlanOptions(stack=stack, **options))


@pytest.fixture
def chosen(make):
    """Chooses between an old stack with ROCm 6.4 and a new one with 7.1."""

    def run(*packages, stack=None, gpu="mi300x", tried=True, pinned=None, **options):
        stacks = [make.stack("a-new", NEW, rocm="7.1", tried=tried), make.stack("b-old", OLD, rocm="6.4")]
        knowledge = make.knowledge(packages, stacks)
        names = [make.dependency(p.id) for p in packages]
        return choose(names, knowledge, knowledge.gpu(gpu), stack, pinned, **options)

    return run


def test_unknown_stack_is_refused_and_the_known_ones_named(chosen):
    with pytest.raises(UserError, match="unknown stack 'c'") as caught:
        chosen(stack="c")

    assert "a-new, b-old" in caught.value.hint


def test_no_stack_for_the_gpu(make):
    knowledge = make.knowledge(stacks=[make.stack("s", gfx=("gfx1100",))])

    result, evaluation, rejected = choose([], knowledge, knowledge.gpu("mi300x"), None)

    assert (result, evaluation) == (None, None)
    assert [(entry.id, entry.reason) for entry in rejected] == [("s", "does not support gfx942")]


def test_stacks_for_other_platforms_are_rejected(make):
    knowledge = make.knowledge(stacks=[make.stack("w", platforms=("windows", "wsl"))])

    result, evaluation, rejected = choose([], knowledge, knowledge.gpu("mi300x"), None)

    assert (result, evaluation) == (None, None)
    assert [(entry.id, entry.reason) for entry in rejected] == [("w", "is only for windows, wsl")]


def test_requested_stack_is_chosen_even_if_it_is_worse(chosen):
    result, _, rejected = chosen(stack="b-old")

    assert result.id == "b-old"
    assert [(entry.id, entry.reason) for entry in rejected] == [("a-new", "--stack b-old was chosen")]


def test_requested_stack_without_support_for_the_gpu_is_not_chosen(make):
    knowledge = make.knowledge(stacks=[make.stack("s", gfx=("gfx1100",))])

    result, _, rejected = choose([], knowledge, knowledge.gpu("mi300x"), "s")

    assert result is None
    assert rejected[0].reason == "does not support gfx942"


def test_newest_release_among_equals(chosen):
    result, evaluation, rejected = chosen()

    assert (result.id, evaluation.stack.id) == ("a-new", "a-new")
    assert [(entry.id, entry.reason) for entry in rejected] == [("b-old", f"older, released {OLD}")]


def test_fewer_blocked_beats_newer(make, chosen):
    result, _, (rejected,) = chosen(make.package("p", make.route("r", rocm="<7")))

    assert result.id == "b-old"
    assert rejected.reason == "blocked: p"


@pytest.mark.parametrize("stand_in", ["stub", "substitute"])
def test_fewer_stubs_beat_newer(make, chosen, stand_in):
    routes = make.route("real", "replace", rocm="<7"), make.route("fake", stand_in, rank=2)

    assert chosen(make.package("p", *routes))[0].id == "b-old"


def test_fewer_builds_beat_newer(make, chosen):
    routes = make.route("wheel", "replace", rocm="<7"), make.route("source", "build", rank=2)

    assert chosen(make.package("p", *routes))[0].id == "b-old"


def test_blocked_counts_before_stubs_and_builds(make, chosen):
    """The old stack blocks one package; the new one stubs one and builds two."""
    packages = [
        make.package("p", make.route("new", "stub", rocm=">=7")),
        *(make.package(n, make.route("w", "keep", rocm="<7"), make.route("s", "build", rank=2)) for n in ("q", "r")),
    ]

    assert chosen(*packages)[0].id == "a-new"


def test_stubs_count_before_builds(make, chosen):
    """The old stack stubs one package; the new one builds it."""
    package = make.package("p", make.route("b", "build", rocm=">=7"), make.route("s", "stub", rank=2))

    assert chosen(package)[0].id == "a-new"


def test_equal_stacks_are_ordered_by_id(make):
    knowledge = make.knowledge(stacks=[make.stack("b"), make.stack("a")])

    assert choose([], knowledge, knowledge.gpu("mi300x"), None)[0].id == "a"


@pytest.mark.parametrize("gfx", [("gfx942",), ("gfx1100",)])
def test_rejected_stacks_come_in_id_order(make, gfx):
    """Whether or not any stack fits, and however the knowledge base was filled."""
    stacks = {name: make.stack(name, gfx=("gfx1100",)) for name in ("c", "a", "b")}
    knowledge = make.knowledge(stacks=[make.stack("z", gfx=gfx), *stacks.values()])
    backwards = replace(knowledge, stacks=dict(reversed(knowledge.stacks.items())))

    first, other = (choose([], base, base.gpu("mi300x"), None)[2] for base in (knowledge, backwards))

    assert [item.id for item in first] == sorted(item.id for item in first)
    assert first == other


def test_a_rocm_that_is_no_version_is_refused(chosen):
    with pytest.raises(UserError, match="--rocm newest: not a release or a range"):
        chosen(rocm="newest")


@pytest.mark.parametrize(
    ("requested", "selected"), [("6.4", "b-old"), ("7", "a-new"), (">=6,<7", "b-old"), ("==7.1", "a-new")]
)
def test_only_stacks_of_the_requested_rocm(chosen, requested, selected):
    result, _, (rejected,) = chosen(rocm=requested)

    assert result.id == selected
    assert f", not {requested}" in rejected.reason


def test_no_stack_of_the_requested_rocm(chosen):
    result, evaluation, rejected = chosen(rocm="5.7")

    assert (result, evaluation, len(rejected)) == (None, None, 2)


@pytest.mark.parametrize(("platform", "selected"), [("wsl", "w"), ("windows", "w"), ("linux", None)])
def test_platform(make, platform, selected):
    knowledge = make.knowledge(stacks=[make.stack("w", platforms=("windows", "wsl"))])

    result, _, rejected = choose([], knowledge, knowledge.gpu("mi300x"), platform=platform)

    assert (result and result.id) == selected
    assert [entry.would_need for entry in rejected] == ([] if selected else ["a release for linux"])


def test_installed_torch_beats_every_stack(make, chosen):
    existing = make.stack("installed", OLD, rocm="6.3")

    result, evaluation, rejected = chosen(installed=existing)

    assert (result.id, evaluation.stack) == ("installed", existing)
    assert {entry.reason for entry in rejected} == {"--keep-torch keeps the installed version"}


def test_a_lost_feature_outweighs_builds_and_age(make, chosen):
    routes = make.route("off", "drop", rocm=">=7", loses="its point"), make.route("source", "build", rank=2, rocm="<7")

    result, _, (rejected,) = chosen(make.package("p", *routes))

    assert (result.id, rejected.reason) == ("b-old", "features lost: p")


def test_a_drop_that_loses_nothing_costs_nothing(make, chosen):
    assert chosen(make.package("p", make.route("off", "drop")))[0].id == "a-new"


def test_an_untried_stack_comes_last_unless_newest_is_preferred(chosen):
    assert chosen(tried=False)[0].id == "b-old"
    assert chosen(tried=False, prefer="newest")[0].id == "a-new"


def test_first_choices_beat_newer(make, chosen):
    routes = make.route("good", "replace", rocm="<7"), make.route("poor", "replace", rank=2)

    result, _, (rejected,) = chosen(make.package("p", *routes))

    assert (result.id, rejected.reason) == ("b-old", "second-choice routes: p")
    assert chosen(make.package("p", *routes), prefer="newest")[0].id == "a-new"


def test_fewest_builds_takes_a_worse_route_that_is_not_built(make, chosen):
    package = make.package("p", make.route("source", "build", rocm=">=7"), make.route("other", "substitute", rank=2))

    assert chosen(package)[1].decisions[0].route == "source"
    result, evaluation, _ = chosen(package, prefer="fewest-builds")
    assert (result.id, evaluation.decisions[0].route) == ("a-new", "other")


def test_more_fallback_routes_break_a_tie(make, chosen):
    """Attention of the better library is possible with the older release alone."""
    package = make.package("p", make.route("plain", "build"), make.route("fast", "build", rank=2, rocm="<7"))

    result, _, (rejected,) = chosen(package)

    assert (result.id, rejected.reason) == ("b-old", "fewer fallback packages")
    assert result.reason.endswith("fallback routes: p 1")


def test_the_stack_that_the_known_port_ran_on_is_preferred(make, chosen):
    package = make.package("p", make.route("wheel", "replace"), make.route("shim", "substitute", rank=3, rocm="<7"))

    result, evaluation, (rejected,) = chosen(package, pinned={"p": "shim"})

    assert (result.id, evaluation.decisions[0].route) == ("b-old", "shim")
    assert rejected.reason == "differs from the known port: p"


def test_among_equals_the_newer_python(make):
    knowledge = make.knowledge(
        stacks=[make.stack("a", python="3.9"), make.stack("b", python="3.12"), make.stack("c", python="3.10")]
    )

    assert choose([], knowledge, knowledge.gpu("mi300x"), None)[0].id == "b"
