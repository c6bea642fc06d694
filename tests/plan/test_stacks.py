from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from rocm3d.model.failure import UserError
from rocm3d.plan.stacks import choose

OLD, NEW = date(2026, 1, 1), date(2026, 11, 1)


@pytest.fixture
def chosen(make):
    """Chooses between an old stack with ROCm 6.4 and a new one with 7.1."""

    def run(*packages, asked=None, gpu="mi300x"):
        stacks = [make.stack("a-new", NEW, rocm="7.1"), make.stack("b-old", OLD, rocm="6.4")]
        knowledge = make.knowledge(packages, stacks)
        return choose([make.dependency(p.id) for p in packages], knowledge, knowledge.gpu(gpu), asked)

    return run


def test_unknown_stack_is_refused_and_the_known_ones_named(chosen):
    with pytest.raises(UserError, match="no stack is called 'c'") as caught:
        chosen(asked="c")

    assert "a-new, b-old" in caught.value.hint


def test_no_stack_for_the_gpu(make):
    knowledge = make.knowledge(stacks=[make.stack("s", gfx=("gfx1100",))])

    found, judged, rejected = choose([], knowledge, knowledge.gpu("mi300x"), None)

    assert (found, judged) == (None, None)
    assert [(item.id, item.reason) for item in rejected] == [("s", "has no code for gfx942")]


def test_stacks_for_other_platforms_are_turned_down(make):
    knowledge = make.knowledge(stacks=[make.stack("w", platforms=("windows", "wsl"))])

    found, judged, rejected = choose([], knowledge, knowledge.gpu("mi300x"), None)

    assert (found, judged) == (None, None)
    assert [(item.id, item.reason) for item in rejected] == [("w", "is for windows, wsl")]


def test_asked_stack_is_taken_even_if_it_is_worse(chosen):
    found, _, rejected = chosen(asked="b-old")

    assert found.id == "b-old"
    assert [(item.id, item.reason) for item in rejected] == [("a-new", "b-old was asked for")]


def test_asked_stack_without_code_for_the_gpu_is_not_taken(make):
    knowledge = make.knowledge(stacks=[make.stack("s", gfx=("gfx1100",))])

    found, _, rejected = choose([], knowledge, knowledge.gpu("mi300x"), "s")

    assert found is None
    assert rejected[0].reason == "has no code for gfx942"


def test_newest_release_among_equals(chosen):
    found, judged, rejected = chosen()

    assert (found.id, judged.stack.id) == ("a-new", "a-new")
    assert [(item.id, item.reason) for item in rejected] == [("b-old", f"no better, and released {OLD}")]


def test_fewer_blocked_beats_newer(make, chosen):
    found, _, (rejected,) = chosen(make.package("p", make.route("r", rocm="<7")))

    assert found.id == "b-old"
    assert rejected.reason == "blocked: p"


@pytest.mark.parametrize("stand_in", ["stub", "substitute"])
def test_fewer_stand_ins_beat_newer(make, chosen, stand_in):
    routes = make.route("real", "replace", rocm="<7"), make.route("fake", stand_in, rank=2)

    assert chosen(make.package("p", *routes))[0].id == "b-old"


def test_fewer_builds_beat_newer(make, chosen):
    routes = make.route("wheel", "replace", rocm="<7"), make.route("source", "build", rank=2)

    assert chosen(make.package("p", *routes))[0].id == "b-old"


def test_blocked_counts_before_stand_ins_and_builds(make, chosen):
    """The old stack blocks one package; the new one stubs one and builds two."""
    packages = [
        make.package("p", make.route("new", "stub", rocm=">=7")),
        *(make.package(n, make.route("w", "keep", rocm="<7"), make.route("s", "build", rank=2)) for n in ("q", "r")),
    ]

    assert chosen(*packages)[0].id == "a-new"


def test_stand_ins_count_before_builds(make, chosen):
    """The old stack stubs one package; the new one builds it."""
    package = make.package("p", make.route("b", "build", rocm=">=7"), make.route("s", "stub", rank=2))

    assert chosen(package)[0].id == "a-new"


def test_equal_in_everything_is_told_apart_by_id(make):
    knowledge = make.knowledge(stacks=[make.stack("b"), make.stack("a")])

    assert choose([], knowledge, knowledge.gpu("mi300x"), None)[0].id == "a"


@pytest.mark.parametrize("gfx", [("gfx942",), ("gfx1100",)])
def test_rejected_stacks_come_in_id_order(make, gfx):
    """Whether or not any stack fits, and however the knowledge base was filled."""
    stacks = {name: make.stack(name, gfx=("gfx1100",)) for name in ("c", "a", "b")}
    knowledge = make.knowledge(stacks=[make.stack("z", gfx=gfx), *stacks.values()])
    backwards = replace(knowledge, stacks=dict(reversed(knowledge.stacks.items())))

    one, other = (choose([], base, base.gpu("mi300x"), None)[2] for base in (knowledge, backwards))

    assert [item.id for item in one] == sorted(item.id for item in one)
    assert one == other
