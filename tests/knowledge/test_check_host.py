"""References of host records to predicates, targets, packages, families and advice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.knowledge.check import ImplementedNames, check_records
from rocm3d.model.condition import PlanRelevance


@pytest.fixture
def problems(knowledge):
    def run(**changes):
        record = knowledge.host["shm-too-small"].model_copy(update=changes)
        rules = {code.rule for code in knowledge.codes.values()}
        rewrites = {recipe.rewrite for recipe in knowledge.recipes.values()}
        spoilt = replace(knowledge, host={**knowledge.host, record.id: record})
        predicates = {item.test for item in knowledge.host.values()}
        matchers = {code.matcher.kind for code in knowledge.codes.values() if code.matcher}
        implemented = ImplementedNames(rules, rewrites, predicates, matchers)
        return [str(problem) for problem in check_records(spoilt, implemented)]

    return run


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test": "of_nobody"}, "test: unknown predicate 'of_nobody'"),
        ({"gfx": ("gfx9999",)}, "gfx: unknown 'gfx9999'"),
        ({"advice": ("nonsense",)}, "advice: unknown 'nonsense'"),
        ({"for_plan": (PlanRelevance(says="x", packages=("nobody",)),)}, "for_plan.packages: unknown 'nobody'"),
        ({"for_plan": (PlanRelevance(says="x", families=("nobody",)),)}, "for_plan.families: unknown 'nobody'"),
        ({"for_plan": (PlanRelevance(says="x", gfx=("gfx9999",)),)}, "gfx: unknown 'gfx9999'"),
    ],
)
def test_unknown_reference_is_a_problem(problems, changes, message):
    assert problems(**changes) == [f"knowledge/host/shm-too-small.toml: {message}"]


def test_shipped_records_have_no_problems(problems):
    assert problems() == []
