from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.apply.review_units import ReviewUnit
from rocm3d.model.patch import Proof, ReviewNote
from rocm3d.render.review_text import outcome_text, unit_explanation, unit_line, unit_text

DIFF = "diff --git a/a.cu b/a.cu\n--- a/a.cu\n+++ b/a.cu\n@@ -1 +1 @@\n-old\n+new\x1b[2J\n"
EVIL = "a\x1b[2J\u202e.cu"


@pytest.fixture
def unit():
    note = ReviewNote(recipe="lane-mask-by-backend", places=("a.cu:3", "a.cu:9"), check="Check the sum.")
    proof = Proof(kind="cpp-tokens-equal", holds=True, detail="same tokens")
    return ReviewUnit("a.cu", ("lane-mask-by-backend",), (note,), proof, DIFF, "0")


def test_control_characters_are_replaced(unit, knowledge):
    hostile = replace(unit, path=EVIL, notes=(ReviewNote(recipe="x", places=(f"{EVIL}:1",), check="c"),))

    for text in (unit_text(hostile, "Edit 1 of 1", knowledge, colour=False), unit_line(hostile)):
        assert not {"\x1b", "\u202e"} & set(text)


def test_an_edit_is_shown_with_reason_check_proof_and_diff(unit, knowledge):
    lines = unit_text(unit, "Edit 1 of 2", knowledge, colour=False).split("\n")

    assert lines[0] == "Edit 1 of 2: a.cu, lane-mask-by-backend"
    assert lines[1].startswith(f"reason: {knowledge.recipes['lane-mask-by-backend'].title}. HIP asserts")
    assert lines[2:5] == ["check: Check the sum.", "proof: same tokens", ""]
    assert lines[-2] == "-old"
    assert (
        unit_text(replace(unit, is_made=False), "Edit 1", knowledge, colour=False)
        .split("\n")[0]
        .endswith(" (left out)")
    )


def test_an_edit_in_one_line_has_its_places_and_what_to_check(unit):
    assert unit_line(unit) == "a.cu:3,9: lane-mask-by-backend: Check the sum."
    assert unit_line(replace(unit, notes=())) == "a.cu: lane-mask-by-backend"


def test_the_explanation_is_that_of_the_rule_and_of_its_fix(unit, knowledge):
    text = unit_explanation(unit, knowledge)

    assert text.startswith("CU101 lane_mask_32bit")
    assert "lane-mask-by-backend: " in text
    assert unit_explanation(replace(unit, recipes=("gone",)), knowledge) == "no record of gone\n"


def test_the_outcome_is_counted():
    assert outcome_text(1, 2, 0) == "1 edit kept, 2 left out, 0 open"
