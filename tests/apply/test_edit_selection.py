from __future__ import annotations

import pytest

from rocm3d.apply.edit_selection import EditSelection
from rocm3d.model.errors import UserError

RECIPE = "nvcc-flags-by-backend"


@pytest.fixture
def edit(make_edit):
    """An edit by that recipe for findings of CU301 spaced_launch."""
    planned = make_edit("split_compile_flags", "setup.py", recipe=RECIPE)
    result = planned.findings[0].model_copy(update={"code": "CU301", "rule": "spaced_launch"})
    return planned.model_copy(update={"findings": (result,)})


@pytest.mark.parametrize("text", ["", "spaced_lunch", "XX", "CU999", "nvcc-flags", "PY101,BLD"])
def test_unknown_selector_is_refused(knowledge, text):
    for only, skip in (([text], []), ([], [text])):
        with pytest.raises(UserError, match="is not a rule, a code prefix or a recipe"):
            EditSelection.from_options(only, skip, knowledge)


def test_misspelt_selector_gets_suggestions(knowledge):
    with pytest.raises(UserError) as refused:
        EditSelection.from_options(["nvcc-flag-by-backend"], [], knowledge)
    assert RECIPE in refused.value.hint


@pytest.mark.parametrize("text", ["spaced_launch", "CU301", "cu3", "CU", RECIPE])
def test_an_edit_is_named_by_rule_code_prefix_or_recipe(knowledge, edit, text):
    assert EditSelection.from_options([text], [], knowledge).exclusion_reason(edit) is None
    assert EditSelection.from_options([], [text], knowledge).exclusion_reason(edit) == f"excluded by --skip {text}"


def test_only_excludes_other_edits_and_skip_wins(knowledge, edit):
    assert (
        EditSelection.from_options(["PY", "BLD"], [], knowledge).exclusion_reason(edit) == "excluded by --only PY,BLD"
    )
    assert (
        EditSelection.from_options(["CU"], ["spaced_launch"], knowledge).exclusion_reason(edit)
        == "excluded by --skip spaced_launch"
    )


def test_repeated_selector_counts_once(knowledge):
    assert EditSelection.from_options(["CU", "PY", "CU"], ["BLD"], knowledge) == EditSelection(("CU", "PY"), ("BLD",))


def test_everything_is_selected_by_default(knowledge, edit):
    assert EditSelection.from_options([], [], knowledge).exclusion_reason(edit) is None
