from __future__ import annotations

import random
from dataclasses import fields, replace
from datetime import timedelta

import pytest

from rocm3d.model.errors import UserError
from rocm3d.model.package import Licence
from rocm3d.model.plan import Plan
from rocm3d.model.port import Port
from rocm3d.plan.stacks import PlanOptions
from rocm3d.plan.stage import OLD_AFTER_DAYS, plan


@pytest.fixture
def base(make):
    """Codes, recipes, stacks and packages enough for every part of a plan."""
    codes = [
        make.code("CU301", "spaced_launch"),
        make.code("CU201", "missing_header"),
        make.code("PY101", "flash_attention_required", "person"),
        make.code("DEP201", "cuda_only_package", "decision"),
    ]
    packages = [
        make.package("good", make.route("wheel", "replace"), make.route("source", "build", rank=2)),
        make.package("fake", make.route("stand-in", "stub")),
        make.package("dead", make.route("none", rocm="<1")),
        make.package("plain", make.route("as-is", "keep")),
    ]
    stacks = [make.stack("s1"), make.stack("s2", rocm="6.4"), make.stack("s3", gfx=("gfx1100",))]
    recipes = [make.recipe("launch", "CU301"), make.recipe("header", "CU201")]
    return make.knowledge(packages, stacks, recipes, codes)


@pytest.fixture
def planned(make, base):
    def run(findings=(), dependencies=(), knowledge=base, gpu="mi300x", stack=None, today=make.today) -> Plan:
        document = make.scan(findings, dependencies)
        return plan(document, knowledge.gpu(gpu), knowledge, today, PlanOptions(stack=stack))

    return run


def test_unknown_stack_is_refused(planned):
    with pytest.raises(UserError, match="unknown stack"):
        planned(stack="nobody")


def test_no_stack_for_the_gpu_is_blocked(make, base, planned):
    document = planned(knowledge=replace(base, stacks={"s3": base.stacks["s3"]}))

    assert (document.stack, document.base, document.readiness) == (None, None, "blocked")
    assert [entry.id for entry in document.rejected_stacks] == ["s3"]
    assert document.decisions == ()


def test_blocked_dependency_blocks(make, planned):
    assert planned(dependencies=[make.dependency("dead"), make.dependency("fake")]).readiness == "blocked"


def test_stub_makes_it_partial_and_is_named(make, planned):
    document = planned(dependencies=[make.dependency("fake")])

    assert document.readiness == "partial"
    assert [entry.name for entry in document.stubs] == ["fake"]
    assert document.warnings == ("fake: replaced by a stub; never counted as verified",)


def test_substitute_is_a_stub_too(make, planned):
    knowledge = make.knowledge([make.package("p", make.route("other", "substitute"))], [make.stack("s")])

    document = planned(dependencies=[make.dependency("p")], knowledge=knowledge)

    assert [entry.decision for entry in document.stubs] == ["substitute"]


@pytest.mark.parametrize(("code", "rule"), [("CU301", "spaced_launch"), ("PY101", "flash_attention_required")])
def test_edits_and_leftovers_mean_needs_edits(make, planned, code, rule):
    assert planned([make.finding(code, rule)]).readiness == "needs-edits"


@pytest.mark.parametrize(("effort", "readiness"), [("hours", "needs-edits"), ("rewrite", "rewrite")])
def test_a_leftover_that_needs_another_algorithm_is_a_rewrite(make, planned, base, effort, readiness):
    code = base.codes["PY101"].model_copy(update={"effort": effort})
    knowledge = replace(base, codes={**base.codes, "PY101": code})
    findings = [make.finding("PY101", "flash_attention_required")]

    assert planned(findings, [make.dependency("fake")], knowledge=knowledge).readiness == (
        "partial" if effort == "hours" else readiness
    )
    assert planned(findings, knowledge=knowledge).readiness == readiness
    assert planned(findings, [make.dependency("dead")], knowledge=knowledge).readiness == "blocked"


def test_other_sources_mean_ready_with_deps(make, planned):
    assert planned(dependencies=[make.dependency("good")]).readiness == "ready-with-deps"


def test_nothing_to_do_is_ready(make, planned):
    assert planned(dependencies=[make.dependency("plain"), make.dependency("numpy", None)]).readiness == "ready"


def test_plan_has_the_complete_stack(base, planned):
    document = planned()

    assert document.stack.id == "s1"
    assert document.base == base.stacks["s1"]
    assert {entry.id for entry in document.rejected_stacks} == {"s2", "s3"}
    assert document.knowledge_date == "2026-11-15"


@pytest.mark.parametrize(("days", "warned"), [(0, False), (OLD_AFTER_DAYS, False), (OLD_AFTER_DAYS + 1, True)])
def test_old_facts_warn_after_180_days(make, planned, days, warned):
    assert OLD_AFTER_DAYS == 180

    document = planned(dependencies=[make.dependency("good")], today=make.today + timedelta(days))

    assert bool(document.warnings) is warned
    assert not warned or document.warnings == (
        f"good: the decision uses a fact last checked {days} days ago ({make.today})",
    )


def test_age_of_routes_not_taken_does_not_warn(make, planned):
    old = make.route("second", "build", rank=2, checked=make.today - timedelta(999))
    knowledge = make.knowledge([make.package("p", make.route("first"), old)], [make.stack("s")])

    assert planned(dependencies=[make.dependency("p")], knowledge=knowledge).warnings == ()


def test_hazards_of_the_target_warn(make, planned):
    target = make.target("gfx942", "mi300x", hazards=("it is hot",))
    knowledge = make.knowledge(stacks=[make.stack("s")], targets=[target])

    assert planned(knowledge=knowledge).warnings == ("gfx942: it is hot",)


@pytest.mark.parametrize("name", ["gfx942", "GFX942", "mi300x", "MI300X", "mi-300-x"])
def test_every_name_of_a_gpu_gives_the_same_bytes(make, planned, name):
    arguments = [make.dependency("good")]

    assert (
        planned(dependencies=arguments, gpu=name).to_json() == planned(dependencies=arguments, gpu="gfx942").to_json()
    )


def test_other_product_of_the_same_gfx_is_another_plan(planned):
    assert planned(gpu="mi300x-b").gpu.product == "mi300x-b"


def test_round_trip(make, planned):
    document = planned([make.finding("CU301", "spaced_launch")], [make.dependency("good"), make.dependency("fake")])

    assert Plan.from_json(document.to_json(), "plan.json") == document


def shuffled(knowledge, chance):
    """The same knowledge, every table filled in another order."""
    names = [entry.name for entry in fields(knowledge) if entry.name not in ("date", "method")]
    tables = {name: getattr(knowledge, name) for name in names}
    return replace(
        knowledge,
        **{name: {key: table[key] for key in chance.sample(list(table), len(table))} for name, table in tables.items()},
    )


def everything(make):
    findings = [
        make.finding("CU301", "spaced_launch", "b.cu", 3),
        make.finding("CU301", "spaced_launch", "b.cu", 9),
        make.finding("CU201", "missing_header", "b.cu", 1),
        make.finding("PY101", "flash_attention_required", "a.py", 5),
        make.finding("PY101", "flash_attention_required", "c.py", 5),
        make.finding("DEP201", "cuda_only_package", "requirements.txt", 2, "good"),
        make.finding("DEP201", "cuda_only_package", "requirements.txt", 4, "fake"),
    ]
    named = [("good", "good"), ("fake", "fake"), ("Fake", "fake"), ("numpy", None), ("plain", "plain")]
    return findings, [make.dependency(name, package, line) for line, (name, package) in enumerate(named, 1)]


@pytest.mark.parametrize(
    "stacks", [("s1", "s2", "s3"), ("s3",), ("s3", "s0")], ids=["some fit", "none fits", "two do not"]
)
@pytest.mark.parametrize("seed", range(5))
def test_order_of_knowledge_and_dependencies_does_not_matter(make, base, planned, seed, stacks):
    chance = random.Random(seed)
    own = {**base.stacks, "s0": make.stack("s0", gfx=("gfx1100",))}
    knowledge = replace(base, stacks={name: own[name] for name in stacks})
    findings, dependencies = everything(make)
    straight = planned(findings, dependencies, knowledge).to_json()

    other = chance.sample(dependencies, len(dependencies))

    assert planned(findings, other, shuffled(knowledge, chance)).to_json() == straight


@pytest.mark.parametrize("seed", range(5))
def test_order_of_findings_does_not_matter(make, planned, seed):
    findings, dependencies = everything(make)
    straight = planned(findings, dependencies).to_json()

    other = random.Random(seed).sample(findings, len(findings))

    assert planned(other, dependencies).to_json() == straight


def test_every_finding_is_listed_once(make, planned):
    findings, dependencies = everything(make)

    document = planned(findings, dependencies)
    edited = [result for edit in document.edits for result in edit.findings]
    placed = [*edited, *document.answered, *(item.finding for item in document.left)]

    assert sorted(str(item) for item in placed) == sorted(str(item) for item in findings)


def test_lost_features_are_the_first_warnings(make, planned):
    target = make.target("gfx942", "mi300x", hazards=("it is hot",))
    package = make.package("p", make.route("off", "drop", loses="8-bit loading"))
    knowledge = make.knowledge([package], [make.stack("s", tried=False)], targets=[target])

    document = planned(dependencies=[make.dependency("p")], knowledge=knowledge)

    assert [entry.name for entry in document.losses] == ["p"]
    assert document.warnings == (
        "p: the port loses 8-bit loading",
        "s: few 3D packages are known to run on it",
        "gfx942: it is hot",
    )


def test_effort_is_counted_by_finding(make, base, planned):
    codes = {**base.codes, "PY101": base.codes["PY101"].model_copy(update={"effort": "rewrite"})}
    findings, dependencies = everything(make)

    document = planned(findings, dependencies, knowledge=replace(base, codes=codes))

    assert str(document.effort) == "5 none, 0 minutes, 0 hours, 2 rewrite"
    assert {entry.effort for entry in document.left} == {"rewrite"}


def test_a_known_repository_takes_the_routes_that_its_port_ran_with(make, base):
    fact = {"checked": make.today, "confidence": "reported", "sources": base.stacks["s1"].sources}
    port = Port(id="model", title="The Model", tier=1, families=(), routes={"good": "source"}, **fact)
    scan = make.scan(dependencies=[make.dependency("good")])
    known = scan.model_copy(update={"inventory": scan.inventory.model_copy(update={"known_as": "model"})})
    knowledge = replace(base, ports={"model": port})

    document = plan(known, knowledge.gpu("mi300x"), knowledge, make.today)

    assert [entry.route for entry in document.decisions] == ["source"]
    assert document.known_as == "model"
    assert document.warnings[0].startswith("Known project: The Model.")
    assert plan(scan, knowledge.gpu("mi300x"), knowledge, make.today).decisions[0].route == "wheel"


@pytest.mark.parametrize(("rule", "refused"), [(None, False), ("report", False), ("refuse", True)])
def test_licence_policy(make, planned, rule, refused):
    strict = Licence(name="Some Source License", restrictive=True)
    knowledge = make.knowledge([make.package("p", make.route("r"), licence=strict)], [make.stack("s")])

    document = planned(dependencies=[make.dependency("p")], knowledge=knowledge)

    assert document.licence_refusal(rule) == (
        "refused by the licence policy: p is under Some Source License" if refused else None
    )
    assert planned().licence_refusal(rule) is None
