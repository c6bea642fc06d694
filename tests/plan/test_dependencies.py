from __future__ import annotations

import random

import pytest

from rocm3d.plan.dependencies import named, versions
from rocm3d.plan.routes import Circumstances
from rocm3d.plan.stacks import Question, judge


def decide(dependencies, knowledge, stack, gpu, findings=()):
    names = named(dependencies, findings, knowledge)
    return judge(stack, Question(names, knowledge, gpu, Circumstances())).decisions


@pytest.fixture
def decided(make):
    """Decisions about one package with these routes."""

    def run(*routes, **rest):
        package = make.package("p", *routes, **rest)
        knowledge = make.knowledge([package])
        (item,) = decide([make.dependency("p")], knowledge, make.stack("s"), knowledge.gpu("mi300x"))
        return item

    return run


def test_blocked_when_nothing_fits(make, decided):
    item = decided(make.route("old", rocm="<6"), make.route("rdna", rank=2, gfx=("gfx1100",)))

    assert (item.decision, item.route) == ("blocked", None)
    assert item.reason == (
        "no route fits s on gfx942 (old: needs ROCm <6; this stack has 7.1; rdna: supports gfx1100; this GPU is gfx942)"
    )
    assert [other.id for other in item.alternatives] == ["old", "rdna"]


@pytest.mark.parametrize("status", ["planned", "refuted"])
def test_routes_that_are_not_active_are_never_taken(make, decided, status):
    item = decided(make.route("first", status=status), make.route("second", "drop", rank=2))

    assert item.route == "second"
    assert item.alternatives == ()


def test_blocked_when_no_route_is_active(make, decided):
    assert decided(make.route("first", status="refuted")).decision == "blocked"


def test_unknown_package_is_kept(make):
    knowledge = make.knowledge()

    (item,) = decide([make.dependency("numpy", None)], knowledge, make.stack("s"), knowledge.gpu("mi300x"))

    assert (item.decision, item.route, item.package) == ("keep", None, None)
    assert "not known" in item.reason


def test_best_rank_wins_and_the_other_says_why_not(make, decided):
    item = decided(make.route("b", "build", rank=2), make.route("a", "replace", rank=1))

    assert (item.decision, item.route, item.reason) == ("replace", "a", "replace it")
    assert [(other.id, other.reason) for other in item.alternatives] == [("b", "fits too, but ranks below a")]


def test_equal_ranks_are_told_apart_by_id(make, decided):
    assert decided(make.route("b", rank=1), make.route("a", rank=1)).route == "a"


def test_worse_rank_is_taken_where_the_better_does_not_fit(make, decided):
    item = decided(make.route("a", "replace", rocm="<7"), make.route("b", "build", rank=2))

    assert item.route == "b"
    assert item.alternatives[0].reason == "needs ROCm <7; this stack has 7.1"


def test_a_route_may_say_blocked_itself(make, decided):
    item = decided(make.route("none", "blocked", summary="nobody ported it"))

    assert (item.decision, item.route, item.reason) == ("blocked", "none", "nobody ported it")


def test_decision_carries_what_the_route_says(make, decided):
    route = make.route(
        "a",
        "build",
        requirement="p==1",
        index="https://x",
        env={"A": "1"},
        commands=(("make",),),
        traps=("own",),
        verified_on=("mi300x",),
        proof="kernel names",
        needs={"numpy": "<2"},
        loses="half of it",
        import_kept=False,
    )

    item = decided(route, traps=("of all",))

    assert (item.requirement, item.index, item.env) == ("p==1", "https://x", {"A": "1"})
    assert (item.commands, item.proof, item.verified_on) == ((("make",),), "kernel names", ("mi300x",))
    assert item.traps == ("of all", "own")
    assert (item.needs, item.loses, item.import_kept) == ({"numpy": "<2"}, "half of it", False)
    assert (item.sources, item.checked, item.confidence) == (route.sources, route.checked, route.confidence)


def test_one_decision_for_each_name_in_name_order(make):
    knowledge = make.knowledge([make.package("flash-attn", make.route("a"))])
    named = [("zlib", None), ("Flash_Attn", "flash-attn"), ("flash-attn", "flash-attn"), ("", None), ("a.b", None)]
    items = [make.dependency(name, package, line) for line, (name, package) in enumerate(named, 1)]

    results = []
    for seed in range(5):
        random.Random(seed).shuffle(items)
        results.append(decide(items, knowledge, make.stack("s"), knowledge.gpu("mi300x")))

    assert [item.name for item in results[0]] == ["a-b", "flash-attn", "zlib"]
    assert all(result == results[0] for result in results)


def test_the_target_takes_its_place_in_what_the_route_says(make, decided):
    texts = {"env": {"GPU_ARCHS": "{gfx}"}, "requirement": "torch[device-{gfx}]", "commands": (("make", "ARCH={gfx}"),)}

    item = decided(make.route("a", "build", **texts))

    assert (item.env, item.requirement) == ({"GPU_ARCHS": "gfx942"}, "torch[device-gfx942]")
    assert item.commands == (("make", "ARCH=gfx942"),)


def test_what_is_only_imported_is_decided_too(make):
    package = make.package("sparse-conv", make.route("a", "replace")).model_copy(
        update={"pip": ("spconv-cu*", "SpConv")}
    )
    knowledge = make.knowledge([package])
    found = [make.finding("PY103", "cuda_only_import", package="sparse-conv")] * 2

    (item,) = decide([], knowledge, make.stack("s"), knowledge.gpu("mi300x"), found)

    assert (item.name, item.package, item.decision) == ("spconv", "sparse-conv", "replace")


def test_an_import_of_a_named_package_is_no_second_decision(make):
    package = make.package("sparse-conv", make.route("a", "replace"))
    knowledge = make.knowledge([package])
    found = [make.finding("PY103", "cuda_only_import", package="sparse-conv")]

    (item,) = decide(
        [make.dependency("spconv-cu120", "sparse-conv")], knowledge, make.stack("s"), knowledge.gpu("mi300x"), found
    )

    assert item.name == "spconv-cu120"


def test_findings_of_packages_without_a_record_decide_nothing(make):
    knowledge = make.knowledge()
    found = [make.finding("PY103", "cuda_only_import", package="gone"), make.finding("CU301", "spaced_launch")]

    assert decide([], knowledge, make.stack("s"), knowledge.gpu("mi300x"), found) == ()


def test_versions_the_repository_asks_for(make):
    texts = [
        "numpy<2",
        "NumPy==1.26.4",
        "scipy",
        "scipy>=1.5",
        "not a requirement !",
        "torch @ https://x/y.whl",
        "tqdm[z]~=4.0",
    ]
    items = [make.dependency("x").model_copy(update={"requirement": text}) for text in texts]

    assert versions(items) == {"numpy": ("<2", "==1.26.4"), "tqdm": ("~=4.0",)}


def test_an_import_that_the_program_loads_without_decides_nothing(make):
    knowledge = make.knowledge([make.package("p", make.route("a", "replace"))])
    found = [make.finding("PY105", "optional_cuda_import", package="p", severity="note")]

    assert decide([], knowledge, make.stack("s"), knowledge.gpu("mi300x"), found) == ()
