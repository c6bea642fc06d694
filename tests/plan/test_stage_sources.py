from __future__ import annotations

import pytest

from rocm3d.plan.stage import PlanContext, source_plan

DECIDED = {"good": "replace", "bad": "blocked"}


@pytest.fixture
def plan_sources(make):
    """The source plan of some findings on a wave-64 GPU with ROCm 7.1."""

    def run(findings, recipes=(), extensions=(), stack="s", gpu="mi300x"):
        codes = [
            make.code("CU301", "spaced_launch"),
            make.code("CU201", "missing_header"),
            make.code("PY101", "flash_attention_required", "person"),
            make.code("DEP201", "cuda_only_package", "decision"),
            make.code("DEP102", "cuda_index", "addition"),
        ]
        knowledge = make.knowledge(recipes=recipes, codes=codes)
        base = make.stack(stack) if stack else None
        return source_plan(findings, extensions, PlanContext(knowledge, DECIDED, base, knowledge.gpu(gpu)))

    return run


def left(plan):
    return [(entry.finding.code, entry.reason) for entry in plan.left]


def test_note_needs_no_fix(make, plan_sources):
    plan = plan_sources([make.finding("PY101", "flash_attention_required", severity="note")])

    assert (plan.edits, plan.answered, plan.left) == ((), (), ())


def test_no_recipe(make, plan_sources):
    assert left(plan_sources([make.finding("CU301", "spaced_launch")])) == [("CU301", "no recipe yet")]


@pytest.mark.parametrize("status", ["planned", "refuted"])
def test_recipe_that_is_not_active(make, plan_sources, status):
    recipe = make.recipe("r", "CU301").model_copy(update={"status": status})

    assert left(plan_sources([make.finding("CU301", "spaced_launch")], [recipe])) == [("CU301", "no recipe yet")]


def test_manual_recipe_is_advice(make, plan_sources):
    plan = plan_sources([make.finding("CU301", "spaced_launch")], [make.recipe("r", "CU301", "manual")])

    assert left(plan) == [("CU301", "recipe r is advice, not an automatic edit")]
    assert plan.edits == ()


def test_finding_that_needs_a_person(make, plan_sources):
    plan = plan_sources([make.finding("PY101", "flash_attention_required")])

    assert left(plan) == [("PY101", "needs your decision about the program")]


def test_decision_about_a_blocked_package(make, plan_sources):
    plan = plan_sources([make.finding("DEP201", "cuda_only_package", package="bad")])

    assert left(plan) == [("DEP201", "bad is blocked")]


def test_decision_about_an_undecided_package(make, plan_sources):
    plan = plan_sources([make.finding("DEP201", "cuda_only_package", package="other")])

    assert left(plan) == [("DEP201", "other is blocked")]


def test_decision_without_a_record(make, plan_sources):
    plan = plan_sources([make.finding("DEP201", "cuda_only_package")])

    assert left(plan) == [("DEP201", "no known replacement for this package")]


@pytest.mark.parametrize(
    ("when", "reason"),
    [
        ({"wave_size": 32}, "recipe r is for wave size 32"),
        ({"rocm": "<7"}, "recipe r is for ROCm <7"),
        ({"torch": "<2.9"}, "recipe r is for torch <2.9"),
    ],
)
def test_conditions_that_do_not_hold(make, plan_sources, when, reason):
    plan = plan_sources([make.finding("CU301", "spaced_launch")], [make.recipe("r", "CU301", **when)])

    assert left(plan) == [("CU301", reason)]


@pytest.mark.parametrize("when", [{"wave_size": 64}, {"rocm": ">=7,<8"}, {"torch": ">=2.9"}])
def test_conditions_that_hold(make, plan_sources, when):
    plan = plan_sources([make.finding("CU301", "spaced_launch")], [make.recipe("r", "CU301", **when)])

    assert [edit.recipe for edit in plan.edits] == ["r"]


def test_wave_size_of_the_gpu_decides(make, plan_sources):
    result, recipe = make.finding("CU301", "spaced_launch"), make.recipe("r", "CU301", wave_size=32)

    assert len(plan_sources([result], [recipe], gpu="rx7900xtx").edits) == 1


def test_without_a_stack_only_the_wave_size_decides(make, plan_sources):
    result = make.finding("CU301", "spaced_launch")

    assert len(plan_sources([result], [make.recipe("r", "CU301", rocm="<7")], stack=None).edits) == 1
    assert plan_sources([result], [make.recipe("r", "CU301", wave_size=32)], stack=None).edits == ()


def test_decision_fixes_a_finding(make, plan_sources):
    result = make.finding("DEP201", "cuda_only_package", package="good")
    plan = plan_sources([result])

    assert (plan.answered, plan.left) == ((result,), ())


def test_additions_fix_install_findings(make, plan_sources):
    result = [make.finding("DEP102", "cuda_index", path) for path in ("requirements.txt", "setup.sh")]

    assert plan_sources(result).answered == tuple(result)


@pytest.fixture
def plan_with_extra_recipe(make):
    """A recipe of PY101, which is about the package `good`, whose edit serves DEP201 as well."""

    def run(*findings, decision="replace", **when):
        recipe = make.recipe("r", "PY101", "review", **when).model_copy(update={"also": ("DEP201",)})
        own = make.code("PY101", "flash_attention_required").model_copy(update={"package": "good"})
        knowledge = make.knowledge(recipes=[recipe], codes=[own, make.code("DEP201", "cuda_only_package", "decision")])
        arguments = PlanContext(knowledge, {"good": decision}, make.stack("s"), knowledge.gpu("mi300x"))
        return source_plan(findings, [], arguments)

    return run


def test_extra_edit_depends_on_package_and_conditions(make, plan_with_extra_recipe):
    result = make.finding("DEP201", "cuda_only_package", package="other")

    assert left(plan_with_extra_recipe(result)) == [("DEP201", "other is blocked")]
    assert plan_with_extra_recipe(make.finding("DEP201", "cuda_only_package", package="good"), torch="<2").edits == ()


def test_an_edit_in_addition_to_a_decision(make, plan_with_extra_recipe):
    result = make.finding("DEP201", "cuda_only_package", package="good")

    plan = plan_with_extra_recipe(result)

    assert (plan.answered, plan.left, plan.resolved) == ((result,), (), (result,))
    assert [(edit.recipe, edit.findings) for edit in plan.edits] == [("r", (result,))]
    assert plan.codes_needing_edits == set()


def test_an_edit_fixes_a_finding_of_a_blocked_package(make, plan_with_extra_recipe):
    plan = plan_with_extra_recipe(make.finding("DEP201", "cuda_only_package", package="good"), decision="blocked")

    assert (plan.answered, plan.left, plan.codes_needing_edits) == ((), (), {"DEP201"})


def test_a_note_joins_the_edit_of_its_file(make, plan_with_extra_recipe):
    note = make.finding("DEP201", "cuda_only_package", package="good", severity="note", line=1)
    own = make.finding("PY101", "flash_attention_required", package="good", line=5)

    plan = plan_with_extra_recipe(own, note)

    assert [edit.findings for edit in plan.edits] == [(note, own)]
    assert (plan.answered, plan.left, plan.codes_needing_edits) == ((), (), {"PY101"})


def test_one_edit_for_each_file_and_recipe_in_path_order(make, plan_sources):
    recipes = [make.recipe("launch", "CU301", "review"), make.recipe("header", "CU201")]
    findings = [
        make.finding("CU301", "spaced_launch", "b.cu", 3),
        make.finding("CU301", "spaced_launch", "b.cu", 9),
        make.finding("CU201", "missing_header", "b.cu", 1),
        make.finding("CU301", "spaced_launch", "a.cu", 5),
    ]

    edits = plan_sources(findings, recipes).edits

    assert [(edit.path, edit.recipe, len(edit.findings)) for edit in edits] == [
        ("a.cu", "launch", 1),
        ("b.cu", "header", 1),
        ("b.cu", "launch", 2),
    ]
    assert (edits[0].safety, edits[0].rewrite, edits[0].parameters["headers"]) == ("review", "guard_include", ["x.h"])


@pytest.mark.parametrize(
    ("extensions", "guard"),
    [
        ([], None),
        ([("build_extension", "setup.py", "csrc/a.cu")], "torch"),
        ([("build_extension", "setup.py", "./csrc/a.cu")], "torch"),
        ([("build_extension", "csrc/setup.py", "a.cu")], "torch"),
        ([("build_extension", "sub/setup.py", "csrc/a.cu")], None),
        ([("build_extension", "setup.py", "csrc/b.cu")], None),
        ([("jit", "setup.py", "csrc/a.cu")], None),
        ([("cmake", "CMakeLists.txt", "csrc/a.cu")], None),
        ([("jit", "a.py", "csrc/a.cu"), ("build_extension", "setup.py", "csrc/a.cu")], None),
        ([("build_extension", "setup.py", "csrc/a.cu"), ("jit", "z.py", "csrc/a.cu")], None),
    ],
)
def test_short_guard_only_where_build_extension_alone_builds_the_file(make, plan_sources, extensions, guard):
    result, recipe = make.finding("CU301", "spaced_launch", "csrc/a.cu"), make.recipe("r", "CU301")
    built = [make.extension(source, how=how, path=path) for how, path, source in extensions]

    (edit,) = plan_sources([result], [recipe], built).edits

    assert edit.parameters.get("guard") == guard


def test_recipe_itself_is_not_changed_by_the_guard(make, plan_sources):
    recipe = make.recipe("r", "CU301")

    plan_sources([make.finding("CU301", "spaced_launch")], [recipe], [make.extension("a.cu")])

    assert recipe.parameters == {"headers": ["x.h"]}
