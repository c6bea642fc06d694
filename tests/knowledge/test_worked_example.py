from __future__ import annotations

import pytest

from rocm3d.knowledge.worked_example import MAX_LINES, first_change, worked_example


def test_an_unknown_rule_has_no_example(knowledge):
    assert worked_example("X1", knowledge).before == ""


def test_the_texts_of_a_rule_come_before_its_cases(knowledge):
    example = worked_example("PY101", knowledge)

    assert example.before == knowledge.codes["PY101"].example
    assert "scaled_dot_product_attention" in example.after


def test_cases_are_shortened_to_the_part_that_changes(knowledge):
    example = worked_example("CU101", knowledge)

    assert example.before.splitlines()[1] == "  v += __shfl_down_sync(0xffffffff, v, offset);"
    assert "    v += __shfl_down(v, offset, 32);" in example.after.splitlines()


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a\n", "a\n", ("a", "")),
        ("x\na\ny\n", "x\nb\ny\n", ("x\na\ny", "x\nb\ny")),
        (
            "import x\n\n\n\n\nf(1)\n",
            "import x\nis_rocm = torch.version.hip is not None\n\n\n\n\nf(2)\n",
            ("f(1)", "f(2)"),
        ),
        ("  a\n", "  b\n", ("a", "b")),
    ],
    ids=["equal", "with a line of context", "set-up is left out", "without indentation"],
)
def test_first_change(before, after, expected):
    result = first_change(before, after)

    assert (result.before, result.after) == expected


def test_a_long_change_ends_in_dots():
    result = first_change("a\n", "\n".join(f"line {number}" for number in range(99)))

    assert len(result.after.splitlines()) == MAX_LINES
    assert result.after.endswith("\n...")
