from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocm3d.skill.routing import chosen, rank

SKILLS = {
    "cooking": "Cook soups and stews. Use when somebody is hungry. Not for baking bread.",
    "baking": "Bake bread and cakes in an oven.",
    "sailing": "Sail boats; read wind and weather.",
}


def test_a_prompt_that_shares_nothing_calls_for_no_skill():
    assert chosen("What is the capital of France?", SKILLS) is None
    assert chosen("", SKILLS) is None
    assert chosen("and the of with you", SKILLS) is None


def test_what_a_skill_says_it_is_not_for_counts_against_it():
    assert chosen("Bake bread", SKILLS) == "baking"
    assert next(item for item in rank("bread", SKILLS) if item.skill == "cooking").score < 0


def test_endings_of_words_and_any_target_are_known():
    assert chosen("boats, sailing", SKILLS) == "sailing"
    assert chosen("gfx1201", {"a": "for gfx942", **SKILLS}) == "a"


@given(
    st.text(max_size=200),
    st.dictionaries(st.text(min_size=1, max_size=9), st.text(max_size=80), min_size=1, max_size=5),
)
def test_any_prompt_ranks_every_skill_the_same_way_each_time(prompt, skills):
    found = rank(prompt, skills)

    assert {item.skill for item in found} == set(skills)
    assert found == rank(prompt, dict(reversed(skills.items())))
    assert all(-1.1 <= item.score <= 1.0001 for item in found)
