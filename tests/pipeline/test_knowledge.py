from __future__ import annotations

from dataclasses import replace

from rocm3d.pipeline.knowledge import check_knowledge


def test_an_example_that_differs_from_its_rewrite_is_a_problem(knowledge):
    recipe = next(entry for entry in knowledge.recipes.values() if entry.status == "active" and entry.rewrite)
    wrong = replace(knowledge.examples[recipe.id], after=b"something else\n")
    broken = replace(knowledge, examples={**knowledge.examples, recipe.id: wrong})

    problems = [str(problem) for problem in check_knowledge(broken)]

    assert [recipe.rewrite in problem for problem in problems] == [True] * len(problems) != []


def test_shipped_records_have_no_problem(knowledge):
    assert [] == check_knowledge(knowledge)
