from __future__ import annotations

import pytest

from rocm3d.model.errors import UserError
from rocm3d.scan.detector import active_rules
from rocm3d.scan.selection import Selection

FILES = {
    "requirements.txt": "torch==2.1.0+cu121\ngsplat\n",
    "a.cu": "#include <device_functions.h>\nvoid f() { k<< <1, 1>> >(); }\n",
}


@pytest.mark.parametrize("side", ["only", "skip"])
def test_unknown_rule_is_rejected_with_suggestion(known, side):
    with pytest.raises(UserError, match="Unknown rule or code prefix: 'spaced_lunch'") as caught:
        Selection(**{side: ("spaced_lunch",)}).check(known)

    assert "spaced_launch" in caught.value.hint


@pytest.mark.parametrize("selector", ["CU9", "DEP1011", "missing-header", "U3"])
def test_invalid_code_prefix_is_rejected(known, selector):
    with pytest.raises(UserError):
        Selection(only=(selector,)).check(known)


def test_empty_selector_is_rejected(known):
    """It is a prefix of every code, so `--skip ""` would silently switch everything off."""
    with pytest.raises(UserError):
        Selection(skip=("",)).check(known)


def test_skip_wins_over_only():
    selection = Selection(only=("CU",), skip=("CU301",))

    assert not selection.includes("CU301", "spaced_launch")
    assert selection.includes("CU201", "missing_header")


@pytest.mark.parametrize(
    ("only", "codes"),
    [
        ((), ["CU201", "CU301", "DEP101", "DEP201"]),
        (("spaced_launch",), ["CU301"]),
        (("CU",), ["CU201", "CU301"]),
        (("cu2",), ["CU201"]),
        (("DEP101", "missing_header"), ["CU201", "DEP101"]),
    ],
)
def test_only(scanned, only, codes):
    assert [result.code for result in scanned(FILES, *only).findings] == codes


def test_empty_selection_includes_everything():
    assert Selection().includes("CU301", "spaced_launch")


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        ({"only": ("spaced_launch", "missing_header", "spaced_launch")}, ["missing_header", "spaced_launch"]),
        ({"only": ("spaced_launch", "missing_header"), "skip": ("CU3",)}, ["missing_header"]),
        ({"only": ("CU201", "spaced_launch")}, ["missing_header", "spaced_launch"]),
        ({"only": ("spaced_launch",), "skip": ("spaced_launch",)}, []),
    ],
)
def test_selected_detectors_are_sorted_by_code(known, options, rules):
    assert [entry.rule for entry in Selection(**options).detectors(known)] == rules


@pytest.mark.parametrize("options", [{}, {"skip": ("CU",)}, {"only": ("py1",)}, {"only": ("CU", "arch_list")}])
def test_detectors_and_includes_agree(known, options):
    selection = Selection(**options)

    # A rule with several matchers has a detector for each.
    assert list(dict.fromkeys(entry.code for entry in selection.detectors(known))) == [
        rule.code for rule in active_rules(known) if selection.includes(rule.code, rule.rule)
    ]
