from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocm3d.skill.routing import best_skill, rank_skills

SKILLS = {
    "cooking": "Cook soups and stews. Use when somebody is hungry. Not for baking bread.",
    "baking": "Bake bread and cakes in an oven.",
    "sailing": "Sail boats; read wind and weather.",
}


def test_unrelated_prompt_triggers_no_skill():
    assert best_skill("What is the capital of France?", SKILLS) is None
    assert best_skill("", SKILLS) is None
    assert best_skill("and the of with you", SKILLS) is None


def test_exclusions_of_a_skill_count_against_it():
    assert best_skill("Bake bread", SKILLS) == "baking"
    assert next(item for item in rank_skills("bread", SKILLS) if item.skill == "cooking").score < 0


def test_endings_of_words_and_any_target_are_known():
    assert best_skill("boats, sailing", SKILLS) == "sailing"
    assert best_skill("gfx1201", {"a": "for gfx942", **SKILLS}) == "a"


@given(
    st.text(max_size=200),
    st.dictionaries(st.text(min_size=1, max_size=9), st.text(max_size=80), min_size=1, max_size=5),
)
def test_ranking_is_deterministic(prompt, skills):
    result = rank_skills(prompt, skills)

    assert {item.skill for item in result} == set(skills)
    assert result == rank_skills(prompt, dict(reversed(skills.items())))
    assert all(-1.1 <= item.score <= 1.0001 for item in result)
