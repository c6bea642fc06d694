from __future__ import annotations

from dataclasses import replace

from rocm3d.pipeline.knowledge import check_knowledge


def test_an_example_that_its_rewrite_does_not_make_is_a_problem(knowledge):
    recipe = next(item for item in knowledge.recipes.values() if item.status == "active" and item.rewrite)
    wrong = replace(knowledge.examples[recipe.id], after=b"something else\n")
    broken = replace(knowledge, examples={**knowledge.examples, recipe.id: wrong})

    problems = [str(problem) for problem in check_knowledge(broken)]

    assert [recipe.rewrite in problem for problem in problems] == [True] * len(problems) != []


def test_the_shipped_records_have_none(knowledge):
    assert [] == check_knowledge(knowledge)
