from __future__ import annotations

import pytest

from rocm3d.apply.choice import Choice
from rocm3d.model.failure import UserError

RECIPE = "nvcc-flags-by-backend"


@pytest.fixture
def edit(make_edit):
    """An edit by that recipe for findings of CU301 spaced_launch."""
    planned = make_edit("split_compile_flags", "setup.py", recipe=RECIPE)
    found = planned.findings[0].model_copy(update={"code": "CU301", "rule": "spaced_launch"})
    return planned.model_copy(update={"findings": (found,)})


@pytest.mark.parametrize("word", ["", "spaced_lunch", "XX", "CU999", "nvcc-flags", "PY101,BLD"])
def test_a_word_that_means_nothing_is_refused(knowledge, word):
    for only, skip in (([word], []), ([], [word])):
        with pytest.raises(UserError, match="is not a rule, a code prefix or a recipe"):
            Choice.of(only, skip, knowledge)


def test_a_misspelt_word_gets_the_nearest_ones(knowledge):
    with pytest.raises(UserError) as refused:
        Choice.of(["nvcc-flag-by-backend"], [], knowledge)
    assert RECIPE in refused.value.hint


@pytest.mark.parametrize("word", ["spaced_launch", "CU301", "cu3", "CU", RECIPE])
def test_an_edit_is_named_by_rule_code_prefix_or_recipe(knowledge, edit, word):
    assert Choice.of([word], [], knowledge).against(edit) is None
    assert Choice.of([], [word], knowledge).against(edit) == f"excluded by --skip {word}"


def test_what_only_does_not_name_is_left_out_and_skip_wins(knowledge, edit):
    assert Choice.of(["PY", "BLD"], [], knowledge).against(edit) == "excluded by --only PY,BLD"
    assert Choice.of(["CU"], ["spaced_launch"], knowledge).against(edit) == "excluded by --skip spaced_launch"


def test_a_word_that_is_said_twice_counts_once(knowledge):
    assert Choice.of(["CU", "PY", "CU"], ["BLD"], knowledge) == Choice(("CU", "PY"), ("BLD",))


def test_everything_is_wanted_where_nothing_is_said(knowledge, edit):
    assert Choice.of([], [], knowledge).against(edit) is None
