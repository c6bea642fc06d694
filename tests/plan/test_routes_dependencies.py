from __future__ import annotations

import random

import pytest

from rocm3d.plan.routes import RepositoryConstraints, package_by_distribution, required_versions
from rocm3d.plan.stacks import StackCriteria, evaluate_stack


def decide(dependencies, knowledge, stack, gpu, findings=()):
    names = package_by_distribution(dependencies, findings, knowledge)
    return evaluate_stack(stack, StackCriteria(names, knowledge, gpu, RepositoryConstraints())).decisions


@pytest.fixture
def decided(make):
    """Decisions about one package with these routes."""

    def run(*routes, **fields):
        package = make.package("p", *routes, **fields)
        knowledge = make.knowledge([package])
        (entry,) = decide([make.dependency("p")], knowledge, make.stack("s"), knowledge.gpu("mi300x"))
        return entry

    return run


def test_blocked_when_nothing_fits(make, decided):
    entry = decided(make.route("old", rocm="<6"), make.route("rdna", rank=2, gfx=("gfx1100",)))

    assert (entry.decision, entry.route) == ("blocked", None)
    assert entry.reason == (
        "no route fits s on gfx942 (old: needs ROCm <6; this stack has 7.1; rdna: supports gfx1100; this GPU is gfx942)"
    )
    assert [other.id for other in entry.alternatives] == ["old", "rdna"]


@pytest.mark.parametrize("status", ["planned", "refuted"])
def test_routes_that_are_not_active_are_never_taken(make, decided, status):
    entry = decided(make.route("first", status=status), make.route("second", "drop", rank=2))

    assert entry.route == "second"
    assert entry.alternatives == ()


def test_blocked_when_no_route_is_active(make, decided):
    assert decided(make.route("first", status="refuted")).decision == "blocked"


def test_unknown_package_is_unchanged(make):
    knowledge = make.knowledge()

    (entry,) = decide([make.dependency("numpy", None)], knowledge, make.stack("s"), knowledge.gpu("mi300x"))

    assert (entry.decision, entry.route, entry.package) == ("keep", None, None)
    assert "not known" in entry.reason


def test_best_rank_wins_and_others_have_a_reason(make, decided):
    entry = decided(make.route("b", "build", rank=2), make.route("a", "replace", rank=1))

    assert (entry.decision, entry.route, entry.reason) == ("replace", "a", "replace it")
    assert [(other.id, other.reason) for other in entry.alternatives] == [("b", "fits too, but ranks below a")]


def test_equal_ranks_are_ordered_by_id(make, decided):
    assert decided(make.route("b", rank=1), make.route("a", rank=1)).route == "a"


def test_worse_rank_is_taken_where_the_better_does_not_fit(make, decided):
    entry = decided(make.route("a", "replace", rocm="<7"), make.route("b", "build", rank=2))

    assert entry.route == "b"
    assert entry.alternatives[0].reason == "needs ROCm <7; this stack has 7.1"


def test_a_route_may_be_blocked(make, decided):
    entry = decided(make.route("none", "blocked", summary="nobody ported it"))

    assert (entry.decision, entry.route, entry.reason) == ("blocked", "none", "nobody ported it")


def test_decision_has_the_fields_of_the_route(make, decided):
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

    entry = decided(route, traps=("of all",))

    assert (entry.requirement, entry.index, entry.env) == ("p==1", "https://x", {"A": "1"})
    assert (entry.commands, entry.proof, entry.verified_on) == ((("make",),), "kernel names", ("mi300x",))
    assert entry.traps == ("of all", "own")
    assert (entry.needs, entry.loses, entry.import_kept) == ({"numpy": "<2"}, "half of it", False)
    assert (entry.sources, entry.checked, entry.confidence) == (route.sources, route.checked, route.confidence)


def test_one_decision_for_each_name_in_name_order(make):
    knowledge = make.knowledge([make.package("flash-attn", make.route("a"))])
    named = [("zlib", None), ("Flash_Attn", "flash-attn"), ("flash-attn", "flash-attn"), ("", None), ("a.b", None)]
    items = [make.dependency(name, package, line) for line, (name, package) in enumerate(named, 1)]

    results = []
    for seed in range(5):
        random.Random(seed).shuffle(items)
        results.append(decide(items, knowledge, make.stack("s"), knowledge.gpu("mi300x")))

    assert [entry.name for entry in results[0]] == ["a-b", "flash-attn", "zlib"]
    assert all(result == results[0] for result in results)


def test_placeholder_of_the_target_is_replaced(make, decided):
    texts = {"env": {"GPU_ARCHS": "{gfx}"}, "requirement": "torch[device-{gfx}]", "commands": (("make", "ARCH={gfx}"),)}

    entry = decided(make.route("a", "build", **texts))

    assert (entry.env, entry.requirement) == ({"GPU_ARCHS": "gfx942"}, "torch[device-gfx942]")
    assert entry.commands == (("make", "ARCH=gfx942"),)


def test_what_is_only_imported_is_decided_too(make):
    package = make.package("sparse-conv", make.route("a", "replace")).model_copy(
        update={"pip": ("spconv-cu*", "SpConv")}
    )
    knowledge = make.knowledge([package])
    result = [make.finding("PY103", "cuda_only_import", package="sparse-conv")] * 2

    (entry,) = decide([], knowledge, make.stack("s"), knowledge.gpu("mi300x"), result)

    assert (entry.name, entry.package, entry.decision) == ("spconv", "sparse-conv", "replace")


def test_an_import_of_a_named_package_is_no_second_decision(make):
    package = make.package("sparse-conv", make.route("a", "replace"))
    knowledge = make.knowledge([package])
    result = [make.finding("PY103", "cuda_only_import", package="sparse-conv")]

    (entry,) = decide(
        [make.dependency("spconv-cu120", "sparse-conv")], knowledge, make.stack("s"), knowledge.gpu("mi300x"), result
    )

    assert entry.name == "spconv-cu120"


def test_findings_of_packages_without_a_record_decide_nothing(make):
    knowledge = make.knowledge()
    result = [make.finding("PY103", "cuda_only_import", package="gone"), make.finding("CU301", "spaced_launch")]

    assert decide([], knowledge, make.stack("s"), knowledge.gpu("mi300x"), result) == ()


def test_versions_that_the_repository_requires(make):
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

    assert required_versions(items) == {"numpy": ("<2", "==1.26.4"), "tqdm": ("~=4.0",)}


def test_an_optional_import_decides_nothing(make):
    knowledge = make.knowledge([make.package("p", make.route("a", "replace"))])
    result = [make.finding("PY105", "optional_cuda_import", package="p", severity="note")]

    assert decide([], knowledge, make.stack("s"), knowledge.gpu("mi300x"), result) == ()
